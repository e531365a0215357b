"""karat baseline and karat gate on files of scores."""

import json
from pathlib import Path

from tests.command_line import Karat


def test_a_system_is_gated_against_stored_scores(karat: Karat, scores: str, folder: Path) -> None:
    done = karat("baseline", "update", scores, "new")
    assert done.returncode == 0, done.stderr
    assert "wrote baseline.json: new, 20 queries\n  passed: 0.8000\n  cost: 1.4500" in done.stdout
    stored = json.loads((folder / "baseline.json").read_text())
    assert stored["queries"][0]["scores"] == {"passed": 1.0, "cost": 0.5}
    done = karat("gate", scores, "old", "--baseline", "baseline.json")
    assert done.returncode == 1
    assert "passed fell from 0.800 to 0.400" in done.stdout
    assert "Gate failed: old against new, 1 failed." in done.stdout
    assert "rank" not in done.stdout
    done = karat("gate", scores, "new", "--baseline", "baseline.json", "--min", "passed=0.75")
    assert done.returncode == 0
    assert "Gate passed" in done.stdout


def test_rules_name_the_measures_of_the_file(karat: Karat, scores: str) -> None:
    karat("baseline", "update", scores, "new", "-m", "cost")
    checked = ("gate", scores, "old", "--baseline", "baseline.json")
    assert karat(*checked, "--max-regression", "cost=0.1").returncode == 0
    for rule, problem in {
        "recall@5=0.1": "no measure is called 'recall@5'; expected one of passed, cost",
        "passed=0.1": "the baseline has no passed; it has cost",
    }.items():
        done = karat(*checked, "--max-regression", rule)
        assert done.returncode == 2
        assert problem in done.stderr
    done = karat("gate", scores, "new", "--min", "cost=1")
    assert "lower cost is better, so a minimum makes no sense" in done.stderr
    done = karat("gate", scores, "new", "--max-latency", "p90=1s")
    assert "--max-latency needs a run" in done.stderr


def test_one_of_several_systems_is_named(karat: Karat, scores: str, folder: Path) -> None:
    done = karat("gate", scores, "--min", "passed=0.1")
    assert done.returncode == 2
    assert "scores.csv has 2 systems: 'old', 'new'; name one of them behind it" in done.stderr
    assert "nothing to check" in karat("gate", scores, "new").stderr
    text = (folder / scores).read_text().splitlines()
    (folder / "one.csv").write_text("\n".join([text[0], *text[1::2]]))
    assert karat("gate", "one.csv", "--min", "passed=0.4").returncode == 0
    # A changed set of queries is no loss.
    karat("baseline", "update", "one.csv")
    (folder / "one.csv").write_text("\n".join([text[0], *text[1:31:2]]))
    done = karat("gate", "one.csv", "--baseline", "baseline.json")
    assert "the dataset differs from that of the baseline: 5 gone, 15 the same" in done.stderr
