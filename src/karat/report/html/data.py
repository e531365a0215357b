"""What the page's script works with: queries, scores and hits, packed into little JSON."""

import json
from collections.abc import Iterable, Sequence
from math import isnan

from karat.model import Dataset, Hit, Target
from karat.model.trace import Trace
from karat.report.display import printable
from karat.report.findings import Findings
from karat.report.findings.deltas import waterfalls
from karat.report.findings.fate_words import FATES
from karat.report.findings.ranks import fate_of
from karat.report.html.heatmap import query_order
from karat.report.html.markup import Markup, lines_of

__all__ = ["packed", "payload"]

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
# A thousandth is as fine as the page shows a score.
UNIT = 1_000


def packed(findings: Findings, *, highest: float) -> dict[str, object]:
    """Return the data of the page.

    Scores are in thousandths, null where there is none. ``hits[run][query]`` is flat: the number
    of a place, with line truth followed by its first and last line; ``matched`` has a character a
    hit, the number of the target that it covers, or a dot. ``files`` has the file of each place
    where whole files are looked for: another part of one is the same hit there. ``fates`` is there
    where engines were asked again.
    """
    gold = findings.gold
    comparison = findings.contest.comparison
    places = _Places()
    lines = any(
        hit.end_line for traces in findings.traces for trace in traces for hit in trace.hits
    )
    queries = range(len(gold))
    runs = range(len(findings.names))
    return {
        "runs": [printable(name) for name in findings.names],
        "measures": comparison.metrics,
        "lower": [name in comparison.lower_is_better for name in comparison.metrics],
        "k": findings.k,
        "highest": highest,
        "ids": [printable(query_id) for query_id in gold.query_ids],
        "texts": [lines_of(text) for text in gold.texts],
        "tags": {printable(tag): list(map(printable, values)) for tag, values in gold.tags.items()},
        "targets": [
            [
                [_target(target), target.grade, relevant]
                for target, relevant in zip(
                    gold.targets(query), map(int, findings.relevant(query)), strict=True
                )
            ]
            for query in queries
        ],
        "scores": [
            [_thousandths(findings.scores(run, measure)) for run in runs]
            for measure in comparison.metrics
        ],
        "statuses": [
            "".join(str(int(status)) for status in evaluation.table.statuses)
            for evaluation in findings.contest.evaluations
        ],
        "order": query_order(findings),
        "falls": {str(each.run): each.rows for each in waterfalls(findings)},
        "lines": lines,
        "hits": [
            [places.flat(trace.hits, lines=lines) for trace in row] for row in findings.traces
        ],
        "matched": [[_matched(trace) for trace in row] for row in findings.traces],
        "found": [[trace.found for trace in row] for row in findings.traces],
        "fates": _fates(findings),
        "reasons": [words.reason for words in FATES.values()],
        "retrieved": [[trace.retrieved for trace in row] for row in findings.traces],
        "places": places.names,
        "files": places.files if _whole_files(gold) else None,
    }


def _whole_files(gold: Dataset) -> bool:
    return not any(
        target.end_line or target.symbol for row in range(len(gold)) for target in gold.targets(row)
    )


def _fates(findings: Findings) -> list[list[str]] | None:
    """Return a digit a target, its place in ``reasons``; None where nobody was asked."""
    if not findings.losses:
        return None
    return [
        [
            "".join(
                str(fate_of(findings, run, query, target).value)
                for target in range(len(trace.found))
            )
            for query, trace in enumerate(row)
        ]
        for run, row in enumerate(findings.traces)
    ]


def payload(value: object) -> Markup:
    r"""Return *value* as JSON that no HTML parser mistakes for markup.

    >>> payload("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


class _Places:
    """Names of places, each kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self.files: list[int] = []

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    def flat(self, hits: Iterable[Hit], *, lines: bool) -> list[int]:
        packed: list[int] = []
        for hit in hits:
            name = printable(f"{hit.path} {hit.symbol}".strip())
            if name not in self._numbers:
                self._numbers[name] = len(self._numbers)
                self.files.append(self._files.setdefault(hit.path, len(self._files)))
            packed.append(self._numbers[name])
            if lines:
                packed += (hit.start_line, hit.end_line)
        return packed


def _target(target: Target) -> str:
    place = target.path
    if target.end_line:
        place += f":{target.start_line}-{target.end_line}"
    return printable(f"{place} {target.symbol}".strip())


def _matched(trace: Trace) -> str:
    return "".join(
        "." if number < 0 else DIGITS[number] if number < len(DIGITS) else "*"
        for number in trace.matched
    )


def _thousandths(scores: Sequence[float]) -> list[int | None]:
    return [None if isnan(score) else round(score * UNIT) for score in scores]
