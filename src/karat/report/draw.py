"""Draw a report in the format of the file name; formats without charts draw its tables."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePath

from karat.errors import InputError
from karat.model.comparison import Comparison
from karat.report.compare_view import compare_table
from karat.report.findings.insights import command_insights
from karat.report.findings.latency import latency_table, phase_tables, spent_tables
from karat.report.findings.leaderboard import leaderboard_table, resolved_tables
from karat.report.findings.loss_reasons import (
    Shares,
    first_ranks,
    listed_reasons,
    loss_reason_counts,
    loss_text,
)
from karat.report.findings.method import differences, method_rows, shallow
from karat.report.findings.recommend import recommendations
from karat.report.findings.record import Findings
from karat.report.latex import LatexStyle, floating_table, latex_table
from karat.report.overview import DOWN, UP, marked_mean
from karat.report.score_view import note_lines
from karat.report.section import section_document, section_tables, sections
from karat.report.table import Cell, Column, Table, mark_of, marked
from karat.scoring.loss_reasons import LOSS_REASONS


def slice_tables(findings: Findings) -> tuple[Table, ...]:
    """Return one table per tag: a row per run, a column per value with its number of queries.

    The value of a cell is the mean; beside it stands whether it differs from the baseline's.
    """
    notes: tuple[str, ...] = ()
    if len(findings.names) > 1:
        baseline = findings.baseline
        notes = (f"{UP} {DOWN} significantly better or worse than {baseline} in this slice",)
    tables = []
    for tag, values in findings.contest.slices.items():
        columns = [
            Column(f"{value} ({comparison.queries})", numeric=True)
            for value, comparison in values.items()
        ]
        rows = [
            (Cell(name, name), *(_cell(comparison, name) for comparison in values.values()))
            for name in findings.names
        ]
        tables.append(
            Table(
                f"{findings.lead} by {tag}",
                (Column("run"), *columns),
                tuple(rows),
                notes,
            )
        )
    return tuple(tables)


def _cell(comparison: Comparison, name: str) -> Cell:
    cell = marked_mean(comparison, name, comparison.metrics[0])
    interval = comparison.mean(name, comparison.metrics[0]).interval
    low, high = interval.low, interval.high
    if low is None or high is None:
        return cell
    return cell._replace(text=f"{cell.text} [{low:.2f}, {high:.2f}]")


def tables(findings: Findings) -> tuple[Table, ...]:
    """Return the leaderboard, advice, differences, slices, ranks, losses, latency and method.

    Where targets are in no tree searched, the means without them follow the leaderboard. The
    sections of extensions come before the method.
    """
    return tuple(_tables(findings))


def advice_table(findings: Findings) -> Table:
    """Return which run to take for what, and how sure that is."""
    rows = tuple(tuple(map(Cell, advice)) for advice in recommendations(findings))
    columns = (
        Column("for"),
        Column("run"),
        Column("because", spare=2),
        Column("how sure", spare=1),
    )
    return Table(
        "Recommendations", columns, rows, (*findings.contest.notes, *command_insights(findings))
    )


def loss_reason_table(findings: Findings) -> Table:
    """Return how many relevant targets of each run were found, or where they were lost."""
    kinds = listed_reasons(findings)
    rows = tuple(
        Shares(row.run, tuple(row.counts[kind] for kind in kinds))
        for row in loss_reason_counts(findings)
    )
    return replace(
        _counts("Relevant targets", tuple(LOSS_REASONS[kind].label for kind in kinds), rows),
        notes=tuple(f"{LOSS_REASONS[kind].label}: {loss_text(kind, findings)}" for kind in kinds),
    )


def _tables(findings: Findings) -> Iterator[Table]:
    several = len(findings.names) > 1
    notes = [f"not comparable: {reason}" for reason in differences(findings)]
    notes += (*shallow(findings), *findings.remarks)
    if not several:
        notes += note_lines(findings.contest.evaluations[0])
    mark = findings.contest.mark
    board = marked(leaderboard_table(findings), mark)
    yield replace(board, notes=tuple(notes), warnings=findings.contest.warnings)
    yield from (marked(table, mark) for table in resolved_tables(findings))
    if several:
        yield advice_table(findings)
        yield marked(replace(compare_table(findings.contest), conclusion=""), mark)
    lead = mark_of(mark, findings.lead)
    yield from (marked(table, lead) for table in slice_tables(findings))
    if findings.has_hits:
        names, rows = first_ranks(findings)
        yield _counts("Rank of the first relevant hit", names, rows)
        yield loss_reason_table(findings)
    if findings.latency is not None:
        yield latency_table(findings)
    yield from spent_tables(findings.runs)
    yield from phase_tables(findings.runs)
    yield from section_tables(findings)
    method = tuple((Cell(what), Cell(how)) for what, how in method_rows(findings))
    yield Table("Method", (Column("what"), Column("how")), method)


def _counts(title: str, kinds: tuple[str, ...], rows: tuple[Shares, ...]) -> Table:
    return Table(
        title,
        (Column("run"), *(Column(kind, numeric=True) for kind in kinds)),
        tuple(
            (Cell(row.run, row.run), *(Cell(str(count), count) for count in row.counts))
            for row in rows
        ),
    )


def draw(findings: Findings, name: str, *, latex: LatexStyle | None = None) -> str:
    """Return the report as the content of a file called *name*; its suffix names the format.

    *latex* is the style of the tables in a ``.tex`` file.
    """
    draw_findings = drawer(name)
    return _latex(findings, latex) if latex and draw_findings is _latex else draw_findings(findings)


def drawer(name: str) -> Callable[[Findings], str]:
    """Return the function that draws a file called *name*; InputError for an unknown suffix."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".png":
        raise InputError(f"{name}: one chart is an .svg file; --charts FOLDER writes PNG files too")
    if suffix == ".svg":
        return partial(_svg, name=PurePath(name).stem)
    if suffix not in FORMATS:
        raise InputError(f"{name}: unknown report format; expected {', '.join(SUFFIXES)}")
    return FORMATS[suffix]


def _svg(findings: Findings, *, name: str) -> str:
    """Return the chart called *name*, or the means of all measures for any other name."""
    from karat.report.charts import CHARTS
    from karat.report.svg import svg

    chosen = name if name in CHARTS else next(iter(CHARTS))
    chart = CHARTS[chosen](findings.labelled())
    if chart is None:
        raise InputError(f"{name}.svg: these runs have no data for the chart {chosen}")
    return svg(chart)


def _html(findings: Findings) -> str:
    from karat.report.page.file import report_html

    return report_html(findings)


def _markdown(findings: Findings) -> str:
    from karat.report.table import markdown_table, plain

    title = f"# {plain(findings.heading)}\n\n{plain(findings.about)}\n"
    return "\n".join((title, *map(markdown_table, tables(findings.labelled()))))


def _text(findings: Findings) -> str:
    from karat.report.text import text_table

    return "\n".join(map(text_table, tables(findings.labelled())))


def _latex(findings: Findings, style: LatexStyle | None = None) -> str:
    mark = mark_of(findings.contest.mark, findings.lead)
    slices = [marked(table, mark) for table in slice_tables(findings.labelled())]
    more = [*slices, *section_tables(findings.labelled())]
    return "\n".join((latex_table(findings.contest, style), *map(floating_table, more)))


def _csv(findings: Findings) -> str:
    from karat.report.csv import queries_csv

    return queries_csv(findings.contest.evaluations)


def _json(findings: Findings) -> str:
    from karat.report.json import plain, result_plain

    document = result_plain(findings.contest, findings.settings)
    listed = listed_reasons(findings)
    more = {
        "origin": findings.origin,
        "not_comparable": differences(findings),
        "remarks": (*shallow(findings), *findings.remarks),
        "recommendations": [advice._asdict() for advice in recommendations(findings)],
        "insights": command_insights(findings),
        "latency": findings.latency,
        "resolved": findings.resolved,
        "targets": {
            row.run: {kind.name.lower(): row.counts[kind] for kind in listed}
            for row in loss_reason_counts(findings)
        },
        "lost": [
            {
                "run": findings.names[run],
                "query_id": findings.gold.query_ids[query],
                "target": target,
                "by": reason,
            }
            for (run, query, target), reason in sorted(findings.losses.items())
        ],
        "curves": [curve._asdict() for curve in findings.curves],
    }
    if added := list(sections(findings)):
        more["sections"] = [section_document(section) for section in added]
    document |= {key: plain(value) for key, value in more.items()}
    # Every query of every run: indented, it would be twice as long and take ten times as long.
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


FORMATS: dict[str, Callable[[Findings], str]] = {
    ".html": _html,
    ".md": _markdown,
    ".txt": _text,
    ".csv": _csv,
    ".json": _json,
    ".tex": _latex,
}
SUFFIXES = (*FORMATS, ".svg")
