"""The rows of a report, worked out by hand from the runs of the fixture."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import isnan

import pytest

from karat.model import Dataset, Query, QueryStatus, Target
from karat.model.timings import NS_PER_MS, LatencySample, RunResult, Timings
from karat.report.compare_view import compare_table
from karat.report.draw import draw, slice_tables, tables
from karat.report.findings import Findings
from karat.report.findings.latency import ecdf, latencies_ms, latency_table, times_table
from karat.report.findings.leaderboard import (
    beaten_text,
    best_first,
    leaderboard_table,
    pareto,
    resolved_tables,
    standings,
)
from karat.report.findings.loss_reasons import first_ranks, loss_reason_counts
from karat.report.page.queries import subject_of
from karat.report.page.results import results
from karat.report.text import text_table
from karat.scoring.loss_reasons import LossReason, loss_reason_at

Make = Callable[..., Findings]
MakeRun = Callable[..., RunResult]

# What no tree held: of q1 the second target, and all of q3 and q4.
GONE = {"q1": ["b.py"], "q3": ["d.py"], "q4": ["e.py"]}


def test_the_best_run_comes_first(findings: Findings) -> None:
    new, old = standings(findings)
    assert (new.name, new.letter, old.name, old.letter) == ("new", "b", "old", "a")
    # Ranks 1, 2, 1 and none; 2, 1, beyond 10 and an error.
    assert new.means[0].mean == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert old.means[0].mean == pytest.approx((0.5 + 1 + 0 + 0) / 4)
    assert old.change is None
    assert new.change is not None
    assert new.change.difference == pytest.approx(0.25)
    assert (new.unanswered, old.unanswered) == (0, 1)
    assert (new.median_ms, old.median_ms) == (25.0, 10.0)


def test_a_difference_inside_the_noise_makes_no_best_run(findings: Findings) -> None:
    assert not any(any(row.best) for row in standings(findings))


def test_a_real_difference_makes_one(make: Make, run: MakeRun) -> None:
    queries = [f"q{number}" for number in range(20)]
    gold = Dataset.of([Query(query, "", (Target("a.py"),)) for query in queries])
    good = run("good", dict.fromkeys(queries, ("a.py",)))
    bad = run("bad", dict.fromkeys(queries, ("x.py", "a.py")))
    first, second = standings(make([bad, good], gold=gold, measures=("mrr@10",)))
    assert (first.name, first.best, first.better_than) == ("good", (True,), "a")
    assert (second.best, second.better_than) == ((False,), "")


def test_a_run_alone_is_never_the_best(alone: Findings) -> None:
    (only,) = standings(alone)
    assert (only.best, only.change, only.median_ms) == ((False, False, False), None, None)
    titles = [column.title for column in leaderboard_table(alone).columns]
    assert titles == ["run", "mrr@10", "recall@10", "hit@5"]


def test_less_can_be_better(make: Make, run: MakeRun, findings: Findings) -> None:
    less = replace(
        findings.contest,
        comparison=replace(findings.contest.comparison, lower_is_better=("mrr@10",)),
    )
    turned = replace(findings, contest=less)
    assert (best_first(findings), best_first(turned)) == ((1, 0), (0, 1))
    assert [point.on_front for point in pareto(turned)] == [True, False]


def test_the_leaderboard_as_a_table(findings: Findings) -> None:
    new, old = leaderboard_table(findings).rows
    assert new[0].text == "b new"
    assert new[1].text.startswith("0.625 [")
    assert [cell.text for cell in old[4:]] == ["baseline", "-", "-", "10.0"]


def test_the_baseline_is_the_first_run_with_a_mean_of_the_lead(make: Make, run: MakeRun) -> None:
    rankings = {"q1": ("a.py",), "q2": ("z.py", "c.py"), "q3": ("d.py",), "q4": ("x.py",)}
    flat = run("flat", {query: paths[:1] for query, paths in rankings.items()}, metadata={"k": 1})
    deep = run("deep", rankings, metadata={"k": 10})
    more = run("more", {**rankings, "q2": ("c.py",)}, metadata={"k": 10})
    findings = make([flat, deep, more], measures=("mrr@10", "hit@1"), by=("category",))
    assert (findings.baseline, findings.change_of) == ("deep", "mrr@10")
    assert "baseline deep" in findings.about
    table = leaderboard_table(findings)
    changes = [column.title for column in table.columns].index("change of mrr@10")
    assert {row[0].value: row[changes].text for row in table.rows} == {
        "more": "+0.125",
        "deep": "baseline",
        "flat": "-",
    }
    ideas = findings.contest.slices["category"]["idea"]
    assert ideas.baseline == "deep"
    compared = compare_table(findings.contest)
    assert compared.title == "flat, more against deep, 4 queries"
    assert [row[0].text for row in compared.rows] == ["mrr@10", "", "", "hit@1", "", ""]
    assert [row[4].text for row in compared.rows[:3]] == ["-", "baseline", "+0.125"]


def test_without_a_mean_of_the_lead_changes_are_those_of_the_first_measure_that_there_is(
    make: Make, run: MakeRun
) -> None:
    rankings = {"q1": ("a.py",), "q2": ("z.py", "c.py"), "q3": ("d.py",), "q4": ("x.py",)}
    first = run("first", {query: paths[:1] for query, paths in rankings.items()}, metadata={"k": 1})
    second = run("second", rankings, metadata={"k": 1})
    findings = make([first, second], measures=("mrr@10", "hit@1", "recall@10"))
    assert (findings.baseline, findings.lead, findings.change_of) == ("first", "mrr@10", "hit@1")
    table = leaderboard_table(findings)
    changes = [column.title for column in table.columns].index("change of hit@1")
    assert [row[changes].text for row in table.rows] == ["baseline", "0.000"]


def test_two_runs_on_the_front(findings: Findings) -> None:
    old, new = pareto(findings)
    assert (old.name, old.milliseconds, old.quality) == ("old", 10.0, 0.375)
    assert (old.on_front, new.on_front) == (True, True)


def test_a_run_that_is_slower_and_no_better_is_off_the_front(make: Make, run: MakeRun) -> None:
    fast = run("fast", {"q1": ("a.py",)}, {"q1": 1.0})
    slow = run("slow", {"q1": ("a.py",)}, {"q1": 2.0})
    assert [point.on_front for point in pareto(make([fast, slow]))] == [True, False]
    assert pareto(make([run("untimed", {"q1": ("a.py",)})])) == ()


def test_first_ranks_are_counted_by_bin(findings: Findings) -> None:
    names, (old, new) = first_ranks(findings)
    assert names == ("1", "2-3", "4-5", "6-10", "deeper", "not found")
    assert old.counts == (1, 1, 0, 0, 1, 1)
    assert new.counts == (2, 1, 0, 0, 0, 1)


def test_many_letters_are_counted(findings: Findings) -> None:
    row = standings(findings)[0]
    few, many, lettered = "bcd", "bcdefghijklmno", ",".join(f"a{letter}" for letter in "abcdef")
    texts = [beaten_text(row._replace(better_than=beaten)) for beaten in ("", few, many, lettered)]
    assert texts == ["-", "bcd", "14 runs", "6 runs"]


def test_every_target_has_a_fate(findings: Findings) -> None:
    old, new = loss_reason_counts(findings)
    assert old.counts == (3, 1, 0, 0, 0, 0, 0, 0, 1)
    assert new.counts == (4, 0, 0, 0, 0, 1, 0, 0, 0)
    assert sum(old.counts) == sum(new.counts) == 5


def test_fates() -> None:
    assert loss_reason_at(10, QueryStatus.SCORED, 10) is LossReason.FOUND
    assert loss_reason_at(11, QueryStatus.SCORED, 10) is LossReason.BELOW_K
    assert loss_reason_at(0, QueryStatus.SCORED, 10) is LossReason.NOT_RETRIEVED
    assert loss_reason_at(0, QueryStatus.TIMEOUT, 10) is LossReason.UNANSWERED


def test_only_grades_of_the_level_are_relevant(findings: Findings) -> None:
    strict = replace(findings, level=2.0)
    assert strict.relevant(0) == (True, False)
    assert [sum(row.counts) for row in loss_reason_counts(strict)] == [1, 1]


def test_latencies(findings: Findings, alone: Findings) -> None:
    old, new = ecdf(findings)
    assert old.milliseconds == (10.0, 10.0, 10.0)
    assert new.milliseconds == (10.0, 20.0, 30.0, 40.0)
    assert new.shares == (0.25, 0.5, 0.75, 1.0)
    table = latency_table(findings)
    row = [cell.text for cell in table.rows[1]]
    # Of four values none can be above nine tenths of the others.
    assert row[:5] == ["new", "4", "25.0", "-", "-"]
    assert table.notes[1:] == ("p90 needs 10 queries, p99 needs 100 queries",)
    typed = times_table(findings.runs, findings.gold.query_ids)
    assert typed.notes[1:] == (
        "p90 needs 10 queries, p99 needs 100 queries; --timed all measures more",
    )
    assert row[5:] == ["50.0", "3.00", "1.0", "2.0", "2 repetitions, 1 warm-up"]
    assert ecdf(alone) == ()
    assert latency_table(alone).rows[0][-1].text == "not measured"


def test_percentiles_of_enough_queries(run: MakeRun) -> None:
    many = [LatencySample(str(number), number * NS_PER_MS) for number in range(1, 101)]
    timings = Timings(tuple(many), 0, 0, 0, 0, 1, alone=True)
    measured = replace(run("old", {}), timings=timings)
    table = times_table([measured], [sample.query_id for sample in many])
    assert [cell.text for cell in table.rows[0]][1:5] == ["100", "50.5", "90.1", "99.0"]
    assert len(table.notes) == 1
    # Where all are timed, there are no more to time.
    few = replace(measured, timings=replace(timings, samples=timings.samples[:50]))
    table = times_table([few], [sample.query_id for sample in many[:50]])
    assert [cell.text for cell in table.rows[0]][3:5] == ["45.1", "-"]
    assert table.notes[1:] == ("p99 needs 100 queries",)


def test_disturbed_latencies_say_so(findings: Findings) -> None:
    timings = findings.runs[0].timings
    assert timings
    beside = replace(findings.runs[0], timings=replace(timings, alone=False))
    table = latency_table(replace(findings, runs=(beside, *findings.runs[1:])))
    assert [row[-1].text for row in table.rows] == [
        "disturbed, 2 repetitions, 1 warm-up",
        "2 repetitions, 1 warm-up",
    ]
    note = "disturbed: another karat run was active while latency was measured"
    assert table.notes[-1] == note
    typed = times_table([beside], findings.gold.query_ids)
    assert typed.notes[-1] == f"{note}; --again --wait measures without it"


def test_the_latency_table_fits_a_terminal_of_80_columns(findings: Findings) -> None:
    runs = tuple(replace(run, name=f"hybrid-{run.name}-chunks") for run in findings.runs)
    table = latency_table(replace(findings, runs=runs))
    wide, narrow = text_table(table), text_table(table, width=80)
    assert max(map(len, wide.splitlines())) > 80
    assert max(map(len, narrow.splitlines())) <= 80
    assert "too wide for 80 columns, not shown: " in narrow
    assert "p99 ms" in narrow


@pytest.mark.parametrize("pass_", ["work", "timed_work"])
def test_an_index_from_a_cache_is_told(findings: Findings, pass_: str) -> None:
    notes = {"work": {"rows": 9, "reused": 0}, pass_: {"rows": 9, "reused": 1_234}}
    runs = (replace(findings.runs[0], notes=notes), *findings.runs[1:])
    how = latency_table(replace(findings, runs=runs)).rows[0][-1].text
    assert how.endswith(", 1,234 vectors cached")


def test_memory_of_several_is_told(findings: Findings) -> None:
    runs = [replace(run, notes={"together": ["old", "new"]}) for run in findings.runs]
    for row in latency_table(replace(findings, runs=tuple(runs))).rows:
        assert row[-1].text.endswith(", memory shared by 2 runs")


def test_a_run_file_may_bring_its_latencies(run: MakeRun) -> None:
    answers = [
        answer._replace(latency_ns=5_000_000)
        for answer in run("old", {"q1": ("a.py",), "q2": None}).run.answers()
    ]
    plain = run("old", {}).run
    brought = replace(run("old", {}), run=type(plain).of(answers))
    first, second, third = latencies_ms(brought, ["q1", "q2", "q9"])
    assert first == 5.0
    # An error has no latency, whatever the file says.
    assert isnan(second)
    assert isnan(third)


def test_slices_have_a_column_a_value(findings: Findings) -> None:
    (table,) = slice_tables(findings)
    assert table.title == "mrr@10 by category"
    assert [column.title for column in table.columns] == ["run", "task (2)", "idea (2)"]
    old, new = table.rows
    assert [cell.value for cell in old[1:]] == pytest.approx([0.75, 0.0])
    assert [cell.value for cell in new[1:]] == pytest.approx([0.75, 0.5])


def test_the_means_without_targets_that_nobody_could_find(make: Make, run: MakeRun) -> None:
    old, new = (
        replace(run(name, {"q1": (hit,), "q2": ("c.py",)}), notes={"unresolved": GONE})
        for name, hit in (("old", "x.py"), ("new", "a.py"))
    )
    findings = make([old, new], measures=("recall@10",))
    [table] = resolved_tables(findings)
    assert [column.title for column in table.columns] == ["run", "recall@10"]
    # Of q1 only a.py is left, of q3 and q4 nothing: new has all of two, old one of two.
    means = {row[0].text: row[1].value for row in table.rows}
    assert means == {"new": 1.0, "old": 0.5}
    assert table.notes[0].startswith("3 targets removed, 2 queries remain; ")
    assert tables(findings)[1] == table
    shown = [run["resolved_metrics_flat"] for run in results(subject_of(findings))["runs"]]
    assert shown == [{"recall@10": 0.5}, {"recall@10": 1.0}]
    assert json.loads(draw(findings, "report.json"))["resolved"]["missing"] == 3


def test_nothing_is_told_of_targets_where_all_are_there(findings: Findings) -> None:
    assert resolved_tables(findings) == ()
    assert json.loads(draw(findings, "report.json"))["resolved"] is None
