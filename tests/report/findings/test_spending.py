"""What engines tell of their queries reaches the reader; of those that do not, nothing is shown."""

from collections.abc import Mapping
from dataclasses import replace

from karat.model import Outcome, Run
from karat.model.timings import LatencySample
from karat.report.draw import draw
from karat.report.findings import Findings
from karat.report.findings.latency import phase_tables, spent_tables
from karat.report.page.queries import subject_of
from karat.report.page.results import details

MS = 1_000_000


def titles(findings: Findings) -> list[str]:
    """Return the titles of the tables that the page shows."""
    return [table["title"] for table in details(subject_of(findings))["tables"]]


def with_samples(findings: Findings, *samples: LatencySample) -> Findings:
    """Return the report with other times of its last run."""
    *others, last = findings.runs
    assert last.timings is not None
    timed = replace(last, timings=replace(last.timings, samples=samples))
    return replace(findings, runs=(*others, timed))


def test_nothing_is_shown_where_nobody_tells(findings: Findings) -> None:
    assert spent_tables(findings.runs) == phase_tables(findings.runs) == ()
    assert "Cost of a query" not in draw(findings, "report.md")


def test_tokens_cost_and_first_results(findings: Findings) -> None:
    told = with_samples(
        findings,
        LatencySample("q1", 9 * MS, first_result_ns=2 * MS, tokens=1_000, cost=0.002),
        LatencySample("q2", 9 * MS, first_result_ns=4 * MS, tokens=2_001, cost=0.003),
    )
    (table,) = spent_tables(told.runs)
    assert [column.title for column in table.columns] == [
        "run",
        "first result p50 ms",
        "tokens",
        "cost",
    ]
    old, new = ([cell.text for cell in row] for row in table.rows)
    assert old == ["old", "-", "not reported", "not reported"]
    # The median of 2 and 4 ms; the means of 1,000 and 2,001 tokens, and of 0.002 and 0.003.
    assert new == ["new", "3.00", "1,500", "0.00250"]
    assert "Cost of a query" in titles(told)
    for name in ("report.md", "report.txt"):
        assert "Cost of a query" in draw(told, name)


def with_spent(findings: Findings, *spent: Mapping[str, float]) -> Findings:
    """Return the report with other costs of the first queries of its last run, and no times."""
    *others, last = (replace(run, timings=None) for run in findings.runs)
    answers = list(last.run.answers())
    for index, each in enumerate(spent):
        answers[index] = answers[index]._replace(extra={"spent": each})
    told = replace(last, run=Run.of(answers, name=last.run.name))
    return replace(findings, runs=(*others, told))


def test_costs_without_times(findings: Findings) -> None:
    told = with_spent(
        findings, {"tokens": 10, "cost": 0.0}, {"tokens": 20, "ignored": 2}, {"ignored": 1}
    )
    (table,) = spent_tables(told.runs)
    assert [column.title for column in table.columns] == ["run", "tokens", "cost"]
    old, new = ([cell.text for cell in row] for row in table.rows)
    assert old == ["old", "not reported", "not reported"]
    # The mean of 10 and 20; a cost of 0 is reported too.
    assert new == ["new", "15", "0.00"]
    answered = sum(outcome == Outcome.ANSWERED for outcome in told.runs[-1].run.outcomes)
    assert table.notes == (
        "as the engines report it; tokens and cost are means per query",
        f"new: tokens reported for 2 of {answered} queries",
        f"new: cost reported for 1 of {answered} queries",
        "new: 3 reported values ignored; expected finite numbers from 0 up",
    )
    untimed = replace(told, latency=None)
    assert "Cost of a query" in titles(untimed)
    for name in ("report.md", "report.txt"):
        assert "Cost of a query" in draw(untimed, name)


def test_where_all_that_is_reported_is_wrong(findings: Findings) -> None:
    (table,) = spent_tables(with_spent(findings, {"ignored": 1}).runs)
    assert [cell.text for cell in table.rows[1]] == ["new", "not reported", "not reported"]
    assert table.notes[-1] == ("new: 1 reported value ignored; expected finite numbers from 0 up")


def test_what_is_told_by_some_queries_only(findings: Findings) -> None:
    phases = {"embed": 5 * MS, "search": MS}
    told = with_samples(
        findings, LatencySample("q1", 9 * MS, phases=phases), LatencySample("q2", MS)
    )
    (table,) = phase_tables(told.runs)
    assert [column.title for column in table.columns] == ["run", "embed p50 ms", "search p50 ms"]
    assert [cell.text for cell in table.rows[1]] == ["new", "5.00", "1.00"]
    assert spent_tables(told.runs) == ()
    assert "Phases of a query" in titles(told)
