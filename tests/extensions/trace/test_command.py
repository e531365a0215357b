"""karat trace: one arm, two arms, transcripts without a query, and runs that saw the fix."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.command_line import folder, karat
from tests.extensions.trace.agents import GOLD, TURNS, Turn, write_atif

__all__ = ["folder", "karat"]

Karat = Callable[..., CompletedProcess[str]]
QUERIES = 8
LOST = Turn("git fetch origin", "", 1, 1, 0.0, 1)


@pytest.fixture
def arms(folder: Path) -> Path:
    """Write eight queries of four repositories; *slow* searches more, and once finds nothing."""
    cases = []
    for number in range(QUERIES):
        case = json.loads(json.dumps(GOLD["test_cases"][0]))
        case |= {"id": f"acme__web-{200 + number}", "repository": f"r{number % 4}"}
        case["query"] += f" in form {number}"
        cases.append(case)
        for trial in range(2):
            name = f"{case['id']}__{trial}"
            write_atif(folder / "fast" / name, TURNS)
            turns = [TURNS[0]] * 3 + list(TURNS)
            write_atif(folder / "slow" / name, turns[: 4 if number == 2 else len(turns)])
    (folder / "gold.json").write_text(json.dumps({"test_cases": cases}))
    return folder


def test_one_arm(karat: Karat, arms: Path) -> None:
    done = karat("trace", "gold.json", "fast", "--draws", "99")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("fast has tokens 1100.0")
    assert "Recall by tokens read" in done.stdout
    done = karat("trace", "gold.json", "fast", "--draws", "99", "-o", "one.md")
    assert done.returncode == 0, done.stderr
    assert "Timelines" in (arms / "one.md").read_text()
    assert (
        "fast: 16 transcripts (atif, toy) of 8 queries; 96 calls: 48 shown, 16 searched, "
        "16 listed, 16 other\n" in done.stderr
    )


def test_two_arms_are_tested_by_repository(karat: Karat, arms: Path) -> None:
    done = karat("trace", "gold.json", "slow", "fast", "--draws", "199", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    runs = {run["name"]: run for run in told["runs"]}
    # 1100 tokens, and three searches of 110 more; a run that sees nothing counts as the slowest.
    assert runs["fast"]["metrics"]["tokens"]["mean"] == pytest.approx(1100)
    assert runs["slow"]["metrics"]["tokens"]["mean"] == pytest.approx(1430)
    assert runs["slow"]["metrics"]["found"]["mean"] == pytest.approx(7 / 8)
    assert told["clusters"] == 4


def test_a_report_has_a_timeline_of_each_run(karat: Karat, arms: Path) -> None:
    options = ("--draws", "99", "-o", "report.md", "-m", "tokens,found,recall@1000tok")
    done = karat("trace", "gold.json", "slow", "fast", *options)
    assert done.returncode == 0, done.stderr
    report = (arms / "report.md").read_text()
    assert "Timelines" in report
    assert "slvVV." in report
    assert "ssslvVV" not in report.replace("sssslvVV.", "")


def test_the_screen_says_what_failure_counts(karat: Karat, arms: Path) -> None:
    done = karat("trace", "gold.json", "slow", "fast", "--draws", "99", "--details")
    assert "a run that never sees one counts 1,430 tokens" in " ".join(done.stdout.split())
    done = karat("trace", "gold.json", "slow", "--draws", "99", "--horizon", "tokens=9000")
    assert "counts 9,000 tokens" in " ".join(done.stdout.split())


def test_transcripts_without_a_query_are_named(karat: Karat, arms: Path) -> None:
    write_atif(arms / "fast" / "other", [Turn("ls", "a.py", 1, 1, 0.0, 1)])
    path = arms / "fast" / "other" / "trajectory.json"
    path.write_text(path.read_text().replace("long passwords", "cookies"))
    done = karat("trace", "gold.json", "fast", "--draws", "99")
    assert (
        "warning: fast: 1 transcript without a query of gold.json (name it with --map)"
        in done.stderr
    )
    (arms / "map.csv").write_text("other,acme__web-203\n")
    done = karat("trace", "gold.json", "fast", "--draws", "99", "--map", "map.csv")
    assert "without a query" not in done.stderr


def test_runs_that_saw_the_fix_are_named_or_left_out(karat: Karat, arms: Path) -> None:
    write_atif(arms / "fast" / "acme__web-200__0", [LOST, *TURNS])
    done = karat("trace", "gold.json", "fast", "--draws", "99")
    assert "1 transcript may have seen the fix (--leave-out-leaks drops them)" in done.stderr
    assert "call 1: later commits (git fetch)" in done.stderr
    done = karat("trace", "gold.json", "fast", "--draws", "99", "--leave-out-leaks")
    assert "fast: 15 transcripts" in done.stderr
    assert "1 transcript that may have seen the fix left out" in done.stderr


def test_wrong_use_is_2(karat: Karat, arms: Path) -> None:
    assert karat("trace", "gold.json").returncode == 2
    done = karat("trace", "gold.json", "fast", "-m", "ndcg@10")
    assert (done.returncode, "no measure of transcripts" in done.stderr) == (2, True)
    done = karat("trace", "gold.json", "fast", "--horizon", "tokens")
    assert "expected RESOURCE=VALUE" in done.stderr


def test_scores_are_a_table_for_the_gate(karat: Karat, arms: Path) -> None:
    for arm in ("slow", "fast"):
        done = karat("trace", "gold.json", arm, "--draws", "99", "--scores", f"{arm}.csv")
        assert done.returncode == 0, done.stderr
    rows = (arms / "fast.csv").read_text().splitlines()
    assert rows[0].startswith("query,system,trial,repository,tokens,found,recall,read-tokens,calls")
    assert rows[1].startswith("acme__web-200,fast,1,r0,1100.0,1.0,1.0,")
    assert len(rows) == 1 + 2 * QUERIES
    chosen = ("-m", "tokens,calls", "--lower", "calls")
    done = karat("baseline", "update", "fast.csv", "-o", "b.json", *chosen)
    assert done.returncode == 0, done.stderr
    limits = ("--max-regression", "tokens=100", "--max-regression", "calls=1")
    rules = ("--baseline", "b.json", *chosen, *limits)
    assert karat("gate", "fast.csv", *rules).returncode == 0
    done = karat("gate", "slow.csv", *rules)
    assert done.returncode == 1, done.stdout + done.stderr
