"""Sections that extensions add: drawn as tables, and never the end of a report."""

from math import nan

import pytest

from karat.report.draw import draw, tables
from karat.report.findings import Findings
from karat.report.section import Bar, BarChart, ReportSection, section_document, section_tables
from karat.report.table import Cell, Column, Table
from tests.extension_kit import install_objects

HERE = __name__


def two_runs(findings: Findings) -> ReportSection:
    table = Table("", (Column("run"),), tuple((Cell(name),) for name in findings.names))
    bars = tuple(Bar(name, index / 2, 0.0, 1.0) for index, name in enumerate(findings.names))
    return ReportSection("Names", (table,), (BarChart("Places", "place", bars, ("from 0",)),))


def silent(findings: Findings) -> None:
    return None


def broken(findings: Findings) -> ReportSection:
    raise ZeroDivisionError("nothing to divide")


def add(monkeypatch: pytest.MonkeyPatch, **functions: str) -> None:
    objects = {name: f"{HERE}:{function}" for name, function in functions.items()}
    install_objects(monkeypatch, "report_section", objects)


def test_without_extensions_there_is_none(findings: Findings) -> None:
    assert list(section_tables(findings)) == []


def test_tables_and_charts_become_tables(
    findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [table.title for table in tables(findings)]
    add(monkeypatch, names="two_runs", nothing="silent")
    first, second = section_tables(findings)
    assert [first.title, second.title] == ["Names", "Names: Places"]
    assert [row[0].text for row in first.rows] == list(findings.names)
    assert [column.title for column in second.columns] == ["name", "place", "low", "high"]
    assert second.notes == ("from 0",)
    assert [table.title for table in tables(findings)] == [
        *before[:-1],
        "Names",
        "Names: Places",
        "Method",
    ]


@pytest.mark.parametrize("name", ["r.md", "r.txt", "r.json", "r.tex", "r.html"])
def test_a_section_that_fails_is_shown_with_its_error(
    findings: Findings, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    add(monkeypatch, bad="broken", names="two_runs")
    text = draw(findings, name)
    assert text
    if name != "r.html":
        assert "bad failed" in text
        assert "ZeroDivisionError: nothing to divide" in text
        assert "Places" in text


def test_what_is_not_a_number_is_null() -> None:
    section = ReportSection("S", charts=(BarChart("C", "x", (Bar("a", nan),)),))
    (chart,) = section_document(section)["charts"]
    assert chart["bars"] == [{"name": "a", "value": None, "low": None, "high": None}]
