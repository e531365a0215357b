"""The page as one HTML file: the built template with all documents of a subject inside."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from itertools import count
from zlib import compress

from karat.report.display import printable
from karat.report.findings import Findings
from karat.report.findings.leaderboard import best_first
from karat.report.findings.recommend import headline_with_broken
from karat.report.json import plain
from karat.report.page.analysis import comparisons, curves, matrix, sliced_tags, slices_by
from karat.report.page.queries import Document, Subject, drilldown, query_results, subject_of
from karat.report.page.results import definitions, details, results

Block = Mapping[str, Document]

TITLE = "<title>Karat report</title>"
DATA = "<!--karat-data-->"
# Of more runs, only the baseline and the best run are compared with the others on every measure;
# each other run can be the baseline on the leading one.
MOST_COMPARED = 12
# Maximum number of queries per page of the service.
PER_PAGE = 100
# Number of queries that are unpacked together.
QUERIES_PER_BLOCK = 50
# A file lists at least the first hits, and more while all of them together stay below the total.
FEWEST_HITS = 10
MOST_HITS = 120_000
# Level 9 takes five times as long for a file that is a tenth smaller.
DEFLATE_LEVEL = 6


def report_html(findings: Findings) -> str:
    """Return the report on *findings* as an HTML document, with measures as they were typed."""
    return page_html(subject_of(findings))


def page_html(subject: Subject) -> str:
    """Return the page of *subject* as a whole HTML document, which loads nothing.

    Each block of documents is deflated: the file of 70 queries and 4 runs stays below 1 MB, and a
    browser unpacks only the blocks that it shows.
    """
    findings = subject.findings
    keys: dict[str, int] = {}
    packed = []
    for number, block in enumerate(blocks(subject)):
        keys |= dict.fromkeys(block, number)
        packed.append(_script(f"karat-block-{number}", "text/plain", _deflated(block)))
    title = printable(findings.title or f"{subject.name}: {', '.join(findings.names[:4])}")
    index = {
        "subject": subject.id,
        "title": findings.title or subject.name,
        "about": findings.about,
        "version": findings.origin.version,
        "blocks": keys,
    }
    scripts = [_script("karat-index", "application/json", _json(index)), *packed]
    if findings.origin.records:
        # The records by which `karat verify` repeats the runs.
        records = _json(plain(findings.origin.records))
        scripts.append(_script("records", "application/json", records))
    contest = findings.contest
    outcome = headline_with_broken(contest.comparison.labelled(), contest.evaluations)
    said = escape(printable(outcome))
    head = f'<title>{escape(title)}</title>\n    <meta name="description" content="{said}" />'
    before, after = _template().split(DATA)
    return "".join((before.replace(TITLE, head), "\n".join(scripts), after))


def blocks(subject: Subject) -> Iterator[Block]:
    """Yield the documents of *subject* by the address that the API has them at."""
    yield dict(_overview(subject))
    if len(subject.runs) > 1:
        for index in range(len(subject.runs)):
            yield dict(_comparisons(subject, index))
    yield {
        _key(subject, "matrix", metric=metric): matrix(subject, metric)
        for metric in subject.measures
    }
    for run in subject.runs:
        yield dict(_pages(subject, run.id))
    ids = subject.findings.gold.query_ids
    hits = max(FEWEST_HITS, MOST_HITS // max(len(ids) * len(subject.runs), 1))
    for start in range(0, len(ids), QUERIES_PER_BLOCK):
        yield {
            _key(subject, f"queries/{query}"): drilldown(subject, query, hits=hits)
            for query in ids[start : start + QUERIES_PER_BLOCK]
        }


def _overview(subject: Subject) -> Iterator[tuple[str, Document]]:
    yield "/definitions", definitions(subject.findings.measures.values())
    yield _key(subject, "results"), results(subject)
    yield _key(subject, "details"), details(subject)
    yield _key(subject, "curves"), curves(subject)
    tags = sliced_tags(subject)
    chosen: list[str | None] = [*tags] or [None]
    for tag in chosen:
        for document in slices_by(subject, subject.measures, tag):
            # The first tag is shown where none is chosen.
            if not tags or tag == tags[0]:
                yield _key(subject, "slices", metric=document["metric"]), document
            if tag:
                yield _key(subject, "slices", metric=document["metric"], by=tag), document


def _comparisons(subject: Subject, index: int) -> Iterator[tuple[str, Document]]:
    findings, baseline = subject.findings, subject.runs[index].id
    metrics = findings.contest.comparison.metrics
    chosen = (findings.names.index(findings.baseline), best_first(findings)[0])
    if len(subject.runs) > MOST_COMPARED and index not in chosen:
        metrics = metrics[:1]
    for document in comparisons(subject, baseline, metrics):
        yield _key(subject, "comparison", baseline=baseline, metric=document["metric"]), document


def _pages(subject: Subject, run: str) -> Iterator[tuple[str, Document]]:
    for page in count(1):
        # The page shows hits by query, from the blocks below.
        document = query_results(subject, run, page=page, per_page=PER_PAGE, hits=0)
        yield _key(subject, f"runs/{run}/queries", page=page, per_page=PER_PAGE), document
        if page * PER_PAGE >= document["total"]:
            return


def _key(subject: Subject, path: str, **params: object) -> str:
    """Return the address of a document: its path and its parameters by name, not encoded."""
    given = "&".join(f"{name}={value}" for name, value in sorted(params.items()))
    return f"/benchmarks/{subject.id}/{path}" + (f"?{given}" if given else "")


def _script(name: str, kind: str, content: str) -> str:
    return f'<script type="{kind}" id="{name}">{content}</script>'


def _deflated(block: Block) -> str:
    text = json.dumps(block, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return b64encode(compress(text.encode(), DEFLATE_LEVEL)).decode("ascii")


def _json(value: object) -> str:
    r"""Return *value* as JSON that no HTML parser mistakes for markup.

    >>> _json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _template() -> str:
    return files("karat.report.page").joinpath("built/report.html").read_text(encoding="utf-8")
