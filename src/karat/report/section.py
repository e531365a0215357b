"""Sections that extensions add to a report: tables and charts as data, drawn by every format."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.registry import Registry
from karat.report.table import Cell, Column, Table, known, number, table_document

if TYPE_CHECKING:
    from karat.report.findings import Findings


class Bar(NamedTuple):
    """A value with a name, and the interval of the value if there is one."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars on one scale from 0; *what* is measured, such as ``words``."""

    title: str
    what: str
    bars: tuple[Bar, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of a report: tables, then charts, which formats without charts draw as tables."""

    title: str
    tables: tuple[Table, ...] = ()
    charts: tuple[BarChart, ...] = ()


# A function of the findings that returns its section, or None where it has nothing to say.
SECTIONS: Registry[Callable[["Findings"], ReportSection | None]] = Registry("report_section", {})


def sections(findings: "Findings") -> Iterator[ReportSection]:
    """Yield the sections of the findings, then of extensions; of one that fails, the error."""
    yield from findings.sections
    for name in SECTIONS:
        try:
            section = SECTIONS.get(name)(findings)
        except Exception as error:  # noqa: BLE001 - the code of somebody else must not cost a report
            problem = f"{type(error).__name__}: {error}"
            table = Table("", (Column("problem"),), ((Cell(problem),),))
            section = ReportSection(f"{name} failed", (table,))
        if section is not None:
            yield section


def section_document(section: ReportSection) -> dict[str, Any]:
    """Return *section* as plain values, as JSON and the page have it; NaN is None."""
    return {
        "title": section.title,
        "tables": [table_document(table) for table in section.tables],
        "charts": [
            {
                "title": chart.title,
                "what": chart.what,
                "bars": [
                    {name: known(value) for name, value in bar._asdict().items()}
                    for bar in chart.bars
                ],
                "notes": list(chart.notes),
            }
            for chart in section.charts
        ],
    }


def section_tables(findings: "Findings") -> Iterator[Table]:
    """Yield the sections of extensions as tables."""
    for section in sections(findings):
        for table in (*section.tables, *map(chart_table, section.charts)):
            title = "" if table.title == section.title else table.title
            yield replace(table, title=": ".join(filter(None, (section.title, title))))


def chart_table(chart: BarChart) -> Table:
    """Return the bars of a chart as rows.

    >>> chart_table(BarChart("Words", "words", (Bar("bm25", 2.5),))).rows[0][1].text
    '2.5000'
    """
    columns = [Column("name"), Column(chart.what, numeric=True)]
    with_intervals = any(bar.low is not None for bar in chart.bars)
    if with_intervals:
        columns += [Column("low", numeric=True), Column("high", numeric=True)]
    rows = [
        (
            Cell(bar.name, bar.name),
            number(bar.value),
            *((number(bar.low), number(bar.high)) if with_intervals else ()),
        )
        for bar in chart.bars
    ]
    return Table(chart.title, tuple(columns), tuple(rows), chart.notes)
