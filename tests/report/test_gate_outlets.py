"""A gate as JUnit XML and for GitHub: what a machine reads agrees with the decision."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from karat.model.comparison import Interval
from karat.model.gate import ChangedQuery, Check, Decision, Gate
from karat.report.gate_view import (
    annotations,
    checks_table,
    gate_overview,
    headline,
    junit_xml,
    moved_table,
    rule_text,
    summary,
)

INTERVAL = Interval(-0.1, 0.02, 0.95, "bootstrap-t")
PASSED = Check("minimum", "hit@5", Decision.PASSED, 0.8, 0.7, 40, "fine")
UNSURE = Check(
    *("regression", "ndcg@10", Decision.INCONCLUSIVE, 0.04, 0.02, 40, "inside the noise"),
    interval=INTERVAL,
    detectable=0.06,
)
FAILED = Check("latency", "p90", Decision.FAILED, 250.0, 200.0, 40, "250.0 ms, more than 200 ms")
MOVED = ChangedQuery("q1", "where | <script>", 1.0, 0.0, 1, None)
GATE = Gate(
    *("new", 40, (PASSED, UNSURE, FAILED)),
    baseline="old",
    lead="ndcg@10",
    worst=(MOVED,),
    best=(ChangedQuery("q2", "b", 0.5, 1.0, 2, 1), ChangedQuery("q3", "c", 0.9, 1.0, 3, 1)),
    verdict="The difference is inside the noise.",
)


def suite_of(gate: Gate) -> ET.Element:
    root = ET.fromstring(junit_xml(gate))  # noqa: S314 - our own
    assert root.tag == "testsuites"
    (suite,) = root
    # What both levels count is what the cases say.
    cases = suite.findall("testcase")
    counted = {
        "tests": len(cases),
        "failures": len(suite.findall("testcase/failure")),
        "skipped": len(suite.findall("testcase/skipped")),
        "errors": len(suite.findall("testcase/error")),
    }
    for element in (root, suite):
        assert {name: int(element.attrib[name]) for name in counted} == counted
    assert len({(case.attrib["classname"], case.attrib["name"]) for case in cases}) == len(cases)
    return suite


def test_junit_has_a_case_per_check() -> None:
    cases = suite_of(GATE).findall("testcase")
    assert [case.attrib["name"] for case in cases] == [
        "hit@5 must be at least 0.7",
        "ndcg@10 may lose at most 0.02",
        "p90 latency must be at most 200 ms",
    ]
    assert [[child.tag for child in case] for case in cases] == [[], ["skipped"], ["failure"]]
    assert cases[2][0].attrib["message"] == "250.0 ms, more than 200 ms"


def test_a_failed_regression_lists_the_queries_that_changed_most() -> None:
    lost = replace(UNSURE, decision=Decision.FAILED, why="ndcg@10 fell from 0.6 to 0.5")
    cases = suite_of(replace(GATE, checks=(lost, FAILED))).findall("testcase")
    assert cases[0][0].attrib["message"] == "ndcg@10 fell from 0.6 to 0.5"
    assert (cases[0][0].text or "").splitlines() == [
        "ndcg@10 fell from 0.6 to 0.5",
        "ndcg@10: queries with the largest changes:",
        "q1: 1.000 to 0.000 (-1.000), rank 1 to -: where | <script>",
        "q3: 0.900 to 1.000 (+0.100), rank 3 to 1: c",
        "q2: 0.500 to 1.000 (+0.500), rank 2 to 1: b",
        "rank: rank of the first relevant hit, - if there is none",
    ]
    assert cases[1][0].text == FAILED.why


def test_a_strict_gate_has_no_skipped_case() -> None:
    cases = suite_of(replace(GATE, strict=True)).findall("testcase")
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["failure"]]


def test_junit_survives_any_name() -> None:
    suite = suite_of(replace(GATE, name='a<b>&"\x1b\x00'))
    assert suite.attrib["name"] == 'a<b>&"\\x1b\\x00'


def test_annotations_are_errors_first_then_warnings() -> None:
    assert annotations(GATE) == [
        "::error title=p90 latency must be at most 200 ms::250.0 ms, more than 200 ms",
        "::warning title=ndcg@10 may lose at most 0.02::inside the noise",
    ]
    assert [line.split()[0] for line in annotations(replace(GATE, strict=True))] == ["::error"] * 2


def test_a_gate_that_passes_says_so_once() -> None:
    (line,) = annotations(replace(GATE, checks=(PASSED,)))
    assert line == "::notice title=karat gate::Gate passed: new against old, 1 passed."


@pytest.mark.parametrize("count", [1, 9, 10, 11, 40])
def test_no_more_annotations_than_github_shows(count: int) -> None:
    lines = annotations(replace(GATE, checks=(FAILED,) * count))
    assert len(lines) == min(count, 10)
    if count > 10:
        assert lines[-1].endswith(f"and {count - 9} more checks that did not pass")


def test_the_summary_shows_outcome_checks_and_queries() -> None:
    text = summary(GATE)
    assert text.startswith(
        "## ❌ Gate failed: new against old, 1 failed, 1 inconclusive, 1 passed.\n"
    )
    assert text.splitlines()[2] == GATE.verdict
    assert text.count(GATE.verdict) == 1
    assert "| ndcg@10 may lose at most 0.02 | inconclusive | inside the noise | 0.060 |" in text
    assert r"| q1 | 1.000 | 0.000 | -1.000 | 1 | - | where \| \<script\> |" in text
    assert "smallest true difference" in text


def test_what_moved_goes_from_the_worst_to_the_best() -> None:
    table = moved_table(GATE)
    assert table
    assert [row[0].text for row in table.rows] == ["q1", "q3", "q2"]
    assert moved_table(replace(GATE, worst=(), best=())) is None


def test_the_headline_says_why_a_strict_gate_fails() -> None:
    unsure = replace(GATE, checks=(UNSURE,))
    assert headline(unsure) == "Gate inconclusive: new against old, 1 inconclusive."
    assert "fails because of --strict" in headline(replace(unsure, strict=True))
    assert "fails because of --strict" not in headline(replace(GATE, strict=True))


def test_the_headline_does_not_repeat_the_name_of_the_run() -> None:
    same = replace(GATE, baseline="new (baseline)")
    assert headline(same).startswith("Gate failed: new against its baseline, 1 failed")


def test_without_a_baseline_nothing_is_detectable() -> None:
    table = checks_table(Gate("new", 40, (PASSED,)))
    assert not any("detectable" in note for note in table.notes)
    assert table.conclusion == "Gate passed: new, 1 passed."


def test_notes_that_the_baseline_has_too_are_not_in_the_summary() -> None:
    noted = replace(GATE, notes=("9% are judged", "one is new"), known=("9% are judged",))
    assert "9% are judged" not in summary(noted)
    assert "one is new" in summary(noted)
    assert "9% are judged" in (suite_of(noted).findtext("system-out") or "")


def test_every_outlet_says_which_losses_fail_and_why() -> None:
    ruled = replace(GATE, rule="rule: a loss fails")
    assert "rule: a loss fails" in summary(ruled)
    assert "rule: a loss fails" in checks_table(ruled).notes
    assert "rule: a loss fails" in (suite_of(ruled).findtext("system-out") or "")


def test_a_tolerance_is_called_one() -> None:
    assert rule_text(UNSURE) == "ndcg@10 may lose at most 0.02"
    assert (
        rule_text(replace(UNSURE, is_default=True)) == "ndcg@10 may lose at most 0.02 (tolerance)"
    )
    lost = Check("lost-hits", "hits", Decision.FAILED, 3, 1, 40, "three")
    assert rule_text(lost) == "at most 1 query may lose all hits"


def test_a_tiny_detectable_difference_is_not_printed_as_0() -> None:
    table = checks_table(replace(GATE, checks=(replace(UNSURE, detectable=0.0002),)))
    assert table.rows[0][3].text == "<0.001"


def test_the_overview_has_the_outcome_first_and_the_numbers_of_each_check() -> None:
    loss = Check(
        *("regression", "ndcg@10", Decision.FAILED, 0.25, 0.02, 40, "ndcg@10 fell"),
        interval=Interval(-0.3, -0.2, 0.95, "bootstrap-t"),
        before=0.75,
        after=0.5,
    )
    lost = Check("lost-hits", "hits", Decision.PASSED, 0, 0, 40, "40 queries still have some")
    gate = replace(GATE, checks=(PASSED, loss, lost, FAILED), decisive=("3 errors",))
    table = gate_overview(gate, more="More: --details")
    assert table.conclusion == f"{headline(gate)} {GATE.verdict}"
    assert [column.title for column in table.columns] == [
        *("rule", "outcome", "before", "now", "change", "95% interval")
    ]
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        ["passed", "", "0.800", "", ""],
        ["failed", "0.750", "0.500", "-0.250", "[-0.300, -0.200]"],
        ["passed", "", "0", "", ""],
        ["failed", "", "250 ms", "", ""],
    ]
    assert table.notes == (
        "ndcg@10 fell",
        "p90 latency: 250.0 ms, more than 200 ms",
        "lost most on ndcg@10, with the rank of the first relevant hit: q1 (1 to -)",
        "3 errors",
        "More: --details",
    )


def test_the_overview_of_minimums_has_no_empty_columns() -> None:
    table = gate_overview(Gate("new", 40, (PASSED,)))
    assert [column.title for column in table.columns] == ["rule", "outcome", "now"]
    assert (table.conclusion, table.notes) == ("Gate passed: new, 1 passed.", ())
