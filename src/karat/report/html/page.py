"""The page put together: one file with its style, its script and its data inside."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files

from karat.report.findings import Findings
from karat.report.findings.comparable import differences, shallow
from karat.report.findings.insights import insights
from karat.report.findings.method import method_rows
from karat.report.findings.recommend import recommendations
from karat.report.findings.resolved import resolved_tables
from karat.report.findings.slices import slice_tables
from karat.report.html.charts import charts, highest, lost_targets, times
from karat.report.html.colours import colours
from karat.report.html.data import packed, payload
from karat.report.html.markup import Markup, joined, tag
from karat.report.html.tables import leaderboard, plain_table
from karat.report.json import plain
from karat.report.score_view import note_lines
from karat.report.table import Table

__all__ = ["render"]


def render(findings: Findings) -> str:
    """Return the report as a whole HTML document."""
    style, script = _asset("report.css"), _asset("report.js")
    data = payload(packed(findings, highest=highest(findings)))
    head = (
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{findings.gold.name}: {', '.join(findings.names[:4])}"),
        tag("style", Markup(style)),
    )
    body = (
        tag("a", "Skip to the results", href="#results", class_="skip"),
        _header(findings),
        tag("main", *_sections(findings), id="results"),
        _footer(findings),
        tag("div", id="tip", role="tooltip", hidden=True),
        tag("script", data, type="application/json", id="data"),
        *_records(findings),
        tag("script", Markup(script)),
    )
    document = tag("html", tag("head", *head), tag("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{document}\n"


def _records(findings: Findings) -> Iterator[Markup]:
    """Yield what `karat verify` runs the report again by."""
    if findings.origin.records:
        records = payload(plain(findings.origin.records))
        yield tag("script", records, type="application/json", id="records")


def _sections(findings: Findings) -> Iterator[Markup]:
    shades = colours(findings)
    if warnings := findings.contest.warnings:
        yield _warnings(warnings)
    badge = differences(findings)
    if badge:
        yield _not_comparable(badge)
    if findings.contest.verdict:
        yield tag("p", findings.contest.verdict, class_="verdict")
    yield from _advice(findings)
    yield _section(
        "leaderboard",
        "Leaderboard",
        leaderboard(findings, shades),
        _remarks(findings),
        *_titled(resolved_tables(findings)),
    )
    yield _section("charts", "Charts", *charts(findings, shades))
    yield _section("queries", "Queries", _explorer())
    if slices := slice_tables(findings):
        yield _section("slices", "Slices", *_titled(slices))
    yield _section("lost", "Where targets were lost", *lost_targets(findings))
    yield _section("latency", "Latency", *times(findings, shades))
    yield _section("method", "Method", _method(findings))


def _header(findings: Findings) -> Markup:
    links = {
        "leaderboard": "Leaderboard",
        "charts": "Charts",
        "queries": "Queries",
        **({"slices": "Slices"} if findings.contest.slices else {}),
        "lost": "Lost targets",
        "latency": "Latency",
        "method": "Method",
    }
    return tag(
        "header",
        tag("h1", tag("bdi", findings.gold.name)),
        tag("p", findings.about, class_="sub"),
        tag("nav", *(tag("a", name, href=f"#{key}") for key, name in links.items())),
    )


def _section(key: str, title: str, *parts: str) -> Markup:
    return tag(
        "section",
        tag("h2", title, id=f"{key}-title"),
        *parts,
        id=key,
        aria_labelledby=f"{key}-title",
    )


def _titled(tables: Iterable[Table]) -> list[Markup]:
    return [joined(tag("h3", table.title), plain_table(table)) for table in tables]


def _warnings(texts: tuple[str, ...]) -> Markup:
    return tag(
        "aside",
        tag("strong", "Warning", class_="badge"),
        tag("ul", *(tag("li", tag("bdi", text)) for text in texts)),
        class_="warning",
        role="note",
    )


def _not_comparable(reasons: tuple[str, ...]) -> Markup:
    return tag(
        "aside",
        tag("strong", "Not comparable", class_="badge"),
        tag(
            "p",
            "The runs did not answer the same question, and may differ because of that.",
        ),
        tag("ul", *(tag("li", reason) for reason in reasons)),
        class_="warning",
        role="note",
    )


def _advice(findings: Findings) -> Iterator[Markup]:
    cards = [
        tag(
            "li",
            tag("span", advice.purpose, class_="purpose"),
            tag("strong", tag("bdi", advice.run)),
            tag("span", advice.why),
            tag("small", advice.certainty),
        )
        for advice in recommendations(findings)
    ]
    if cards:
        yield tag("ul", *cards, class_="advice", aria_label="Recommendations")
    sentences = insights(findings)
    if sentences:
        yield tag("ul", *(tag("li", sentence) for sentence in sentences), class_="insights")


def _remarks(findings: Findings) -> Markup:
    """Return what must be known of the runs beside their means."""
    said = (*shallow(findings), *findings.remarks)
    first = tag("ul", *(tag("li", tag("bdi", line)) for line in said), class_="insights")
    lines = [
        tag("li", tag("bdi", evaluation.name), f": {line}")
        for evaluation in findings.contest.evaluations
        for line in note_lines(evaluation)
    ]
    notes = tag("summary", "Notes on each run"), tag("ul", *lines)
    return joined(first if said else "", tag("details", *notes, class_="remarks"))


def _explorer() -> Markup:
    """Return the frame of the table of queries, which the script fills as a reader scrolls."""
    return joined(
        tag(
            "noscript",
            tag("p", "The table of queries needs JavaScript, which this viewer does not run."),
        ),
        tag("form", id="controls", class_="controls", aria_label="Choose queries"),
        tag("p", id="count", role="status", class_="sub"),
        tag(
            "div",
            tag("table", id="explorer", class_="explorer"),
            class_="scroll",
            role="region",
            aria_label="Queries",
            tabindex="0",
        ),
    )


def _method(findings: Findings) -> Markup:
    return tag(
        "dl",
        *(joined(tag("dt", what), tag("dd", how)) for what, how in method_rows(findings)),
    )


def _footer(findings: Findings) -> Markup:
    return tag(
        "footer", f"Made by Karat {findings.origin.version}. This file loads nothing from anywhere."
    )


def _policy(style: str, script: str) -> str:
    """Return the rule that a browser holds the page to: its own style and script, and no more."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    return files("karat.report.html").joinpath(name).read_text(encoding="utf-8")
