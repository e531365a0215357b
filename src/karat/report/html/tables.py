"""Tables of the page: the leaderboard, and any other table of rows."""

from collections.abc import Callable, Sequence

from karat.model.comparison import Mean
from karat.report.compare_view import range_cell
from karat.report.findings import Findings
from karat.report.findings.latency import milliseconds
from karat.report.findings.leaderboard import Standing, beaten_text, p_text, standings
from karat.report.html.markup import Markup, joined, tag
from karat.report.table import Table, number

__all__ = ["leaderboard", "plain_table"]

DIGITS = 3
LESS = "less is better"
BEST = "better than every other run, beyond the noise"


def leaderboard(findings: Findings, colours: Sequence[str]) -> Markup:
    """Return the runs with every measure, its interval beneath, and how the runs change."""
    rows = standings(findings)
    comparison = findings.contest.comparison
    several = len(rows) > 1
    heads = [_head("Run", numeric=False)]
    heads += [
        _head(name, beneath=LESS if name in comparison.lower_is_better else "")
        for name in comparison.metrics
    ]
    further: list[Callable[[Standing], Markup]] = []
    if several:
        heads += [_head("change", beneath=findings.change_of), _head("beats", numeric=False)]
        further += [_change, lambda row: tag("td", beaten_text(row))]
    if findings.latency is not None:
        heads.append(_head("p50 ms"))
        further.append(lambda row: _cell(milliseconds(row.median_ms).text, value=row.median_ms))
    if any(row.unanswered for row in rows):
        heads.append(_head("unanswered"))
        further.append(lambda row: _cell(str(row.unanswered), value=row.unanswered))
    body = [
        tag(
            "tr",
            _name(row, colours[row.run] if several else None),
            *(_mean(mean, best=best) for mean, best in zip(row.means, row.best, strict=True)),
            *(cell(row) for cell in further),
        )
        for row in rows
    ]
    return _scrolled("Leaderboard", heads, body, note=_caption(findings), class_="sortable board")


def plain_table(table: Table) -> Markup:
    """Return *table*; in a cell a bracketed interval stands beneath its number."""
    heads = [_head(column.title, numeric=column.numeric) for column in table.columns]
    body = []
    for row in table.rows:
        first, *others = row
        cells = [tag("th", tag("bdi", first.text), scope="row")]
        for cell, column in zip(others, table.columns[1:], strict=True):
            shown, bracket, span = cell.text.partition(" [")
            value = cell.value if isinstance(cell.value, int | float) else None
            cells.append(_cell(shown, bracket.strip() + span, value=value, numeric=column.numeric))
        body.append(tag("tr", *cells))
    return _scrolled(table.title, heads, body, note=" ".join(table.notes), class_="sortable")


def _name(row: Standing, colour: str | None) -> Markup:
    letter = tag("span", row.letter, class_=f"letter {colour}") if colour else ""
    return tag("th", letter, tag("bdi", row.name), scope="row", data_value=row.name)


def _mean(mean: Mean, *, best: bool) -> Markup:
    star = tag("span", "★", title=BEST, role="img", aria_label=BEST, class_="star") if best else ""
    span = range_cell(mean.interval).text
    return _cell(
        joined(star, number(mean.mean, digits=DIGITS).text),
        "" if span == "-" else span,
        value=mean.mean,
    )


def _change(row: Standing) -> Markup:
    if row.change is None:
        return tag("td", "baseline", class_="n")
    span = range_cell(row.change.interval, signed=True).text
    p = p_text(row.change)
    shown = number(row.change.difference, signed=True, digits=DIGITS).text
    chance = f"p {p if p.startswith('<') else f'= {p}'}"
    beneath = () if span == "-" else (span, chance)
    return _cell(shown, *beneath, value=row.change.difference)


def _head(title: str, *, numeric: bool = True, beneath: str = "") -> Markup:
    note = tag("small", beneath) if beneath else ""
    return tag("th", title, note, scope="col", class_="n" if numeric else None)


def _cell(shown: str, *beneath: str, value: float | None = None, numeric: bool = True) -> Markup:
    return tag(
        "td",
        shown,
        *(tag("small", line) for line in beneath if line),
        class_="n" if numeric else None,
        data_value=None if value is None else f"{value:.6g}",
    )


def _caption(findings: Findings) -> str:
    comparison = findings.contest.comparison
    text = f"Means over {comparison.queries:,} queries with {comparison.level:.0%} intervals."
    if len(findings.names) > 1:
        text += f" Beats: the runs that it is significantly better than on {findings.lead}"
        text += ", the only ones compared." if comparison.pairs == "baseline" else "."
    if any(any(row.best) for row in standings(findings)):
        text += f" A star: {BEST}."
    return text


def _scrolled(
    title: str, heads: Sequence[Markup], body: Sequence[Markup], *, note: str, class_: str
) -> Markup:
    """Return a table that scrolls by itself where the page is narrow, by keyboard too."""
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body), class_=class_)
    region = tag("div", table, class_="scroll", role="region", aria_label=title, tabindex="0")
    return joined(region, tag("p", note, class_="sub note") if note else "")
