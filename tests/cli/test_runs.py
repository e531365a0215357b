"""karat runs on the command line."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.experiments.store import ExperimentKind, RunDefinition, RunStatus, open_store
from karat.formats import read_run
from karat.model import Answer, Hit
from karat.model.evaluation import Summary
from karat.model.spec import Spec
from tests.command_line import PLAN
from tests.lease_clock import LeaseClock

Karat = Callable[..., CompletedProcess[str]]


def test_experiments_are_listed(
    karat: Karat, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.corpus.git.current_revision", lambda: "1a2b3c4")
    experiment_id = request.getfixturevalue("experiment_id")
    done = karat("runs", "list")
    assert done.returncode == 0, done.stderr
    header, _, row = done.stdout.splitlines()
    titles = re.split(r"  +", header)
    assert titles == [
        *("id", "age", "command", "gold set", "queries", "revision", "status", "engines by mrr"),
    ]
    cells = re.split(r"  +", row)
    assert cells == [
        *(experiment_id, "just now", "compare", "nightly", "2", "1a2b3c4", "failed"),
        "keyword 0.250, bm25 (k1=1.2) failed",
    ]


def test_the_best_engines_of_an_experiment_are_listed(karat: Karat, folder: Path) -> None:
    runs = tuple(RunDefinition(name, Spec("engine", name)) for name in "abcde")
    with open_store(str(folder / ".karat" / "karat.db"), new=True) as store:
        for measure, kind in (("mrr", ExperimentKind.SWEEP), ("lines@5", ExperimentKind.COMPARE)):
            plan = replace(PLAN, runs=runs, kind=kind, config={"gold": "questions"})
            experiment = store.experiment(plan)
            for position in range(1, 6):
                store.claim(f"{experiment}.{position}")
                score = Summary(measure, position / 8, position / 8, 2)
                store.keep_scores(f"{experiment}.{position}", [score], complete=True)
                store.finish(f"{experiment}.{position}", RunStatus.COMPLETED)
    assert karat("runs", "pin", "latest.2").stdout.endswith(": b on questions\n")
    lines = karat("runs", "list").stdout.splitlines()
    # Fewer lines are better.
    assert lines[2].endswith("lines@5: a 0.125, b 0.250 (pinned), c 0.375, 2 others")
    assert lines[3].endswith("mrr: e 0.625, d 0.500, c 0.375, 2 others")
    assert "questions (nightly)" in lines[3]


def test_one_run_of_an_engine_is_pinned(karat: Karat, experiment_id: str, unanswered: str) -> None:
    assert karat("runs", "pin", "keyword").stdout == f"pinned {unanswered}.1: keyword on broken\n"
    several = karat("runs", "pin", experiment_id)
    assert several.returncode == 2
    assert f"has 2 runs; expected one, such as {experiment_id}.1" in several.stderr
    assert karat("runs", "pin", f"{experiment_id}.1").returncode == 0
    assert "keyword (pinned)" in karat("runs", "show", experiment_id).stdout
    assert "keyword (pinned)" not in karat("runs", "show", unanswered).stdout
    (listed,) = json.loads(karat("runs", "show", "keyword@pinned", "--json").stdout)["runs"]
    assert (listed["id"], listed["pinned"]) == (f"{experiment_id}.1", True)
    assert karat("runs", "pin", "keyword@pinned", "--remove").stdout.startswith("unpinned ")
    assert karat("runs", "show", "keyword@pinned").returncode == 2


def test_experiments_of_another_kind(karat: Karat, experiment_id: str) -> None:
    done = karat("runs", "list", "--kind", "sweep")
    assert (done.returncode, done.stdout) == (0, "")
    assert "has no experiments of sweep yet" in done.stderr
    assert json.loads(karat("runs", "list", "--kind", "sweep", "--json").stdout) == []
    assert json.loads(karat("runs", "list", "--json").stdout)[0]["id"] == experiment_id


@pytest.mark.parametrize("name", ["latest", "{}", "{:.4}"])
def test_an_experiment_is_shown(karat: Karat, experiment_id: str, name: str) -> None:
    done = karat("runs", "show", name.format(experiment_id))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{experiment_id}, compare nightly"
    assert lines[4].split("  ")[0] == f"{experiment_id}.1"
    # The second query has ended with an error.
    assert "1 of 2  0.250  [0.1000, 0.4000]  keyword" in lines[4]
    assert lines[5].endswith("-                 -  bm25 (k1=1.2)")
    assert f"{experiment_id}.2: gone" in done.stdout


def test_a_run_without_any_answered_query_has_no_score(
    karat: Karat, experiment_id: str, unanswered: str
) -> None:
    assert "0 of 2      -" in karat("runs", "show", unanswered).stdout


def test_latest_is_a_command_too(karat: Karat, experiment_id: str) -> None:
    assert karat("runs", "latest").stdout == karat("runs", "show", experiment_id).stdout


def test_one_run_as_json(karat: Karat, experiment_id: str) -> None:
    document = json.loads(karat("runs", "show", "latest.1", "--json").stdout)
    (run,) = document["runs"]
    assert run["id"] == f"{experiment_id}.1"
    assert run["engine"] == {"name": "keyword", "options": {}}
    assert run["scores"]["mrr"]["mean"] == 0.25
    assert run["scores"]["mrr"]["interval"]["high"] == 0.4
    assert run["error"] is None


def test_a_run_becomes_a_trec_file(karat: Karat, experiment_id: str, folder: Path) -> None:
    done = karat("runs", "export", "latest.1", "-o", "first.run")
    assert done.returncode == 0, done.stderr
    lines = (folder / "first.run").read_text(encoding="utf-8").splitlines()
    assert [line.split()[:4] for line in lines] == [
        ["q1", "Q0", "2.py", "1"],
        ["q1", "Q0", "1.py", "2"],
    ]


def test_all_runs_become_files(karat: Karat, experiment_id: str, folder: Path) -> None:
    done = karat("runs", "export", experiment_id, "-o", "{engine}.jsonl")
    assert done.returncode == 0, done.stderr
    assert "lost" not in done.stderr
    assert len(read_run(folder / "bm25_k1=1.2.jsonl")) == 2
    refused = karat("runs", "export", experiment_id, "-o", "all.jsonl")
    assert refused.returncode == 2
    assert "several runs need several files" in refused.stderr


def test_an_experiment_is_deleted(karat: Karat, experiment_id: str) -> None:
    one = karat("runs", "delete", "latest.1")
    assert one.returncode == 2
    assert "one run of an experiment" in one.stderr
    assert karat("runs", "delete", "latest", experiment_id).stdout == f"deleted {experiment_id}\n"
    gone = karat("runs", "show", experiment_id)
    assert (gone.returncode, gone.stdout) == (2, "")
    assert f"no experiment {experiment_id!r}" in gone.stderr


def test_what_runs_is_not_deleted(
    karat: Karat, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = LeaseClock(str(folder / ".karat" / "karat.db"))
    with clock.open_store("m1:17:0a1b") as other:
        experiment = other.experiment(PLAN)
        assert other.claim(f"{experiment}.1")
        monkeypatch.setattr("karat.experiments.store.base.sleep", lambda _: other.heartbeat())
        refused = karat("runs", "delete", "latest")
        assert refused.returncode == 2
        assert "is being run by another process (host m1, process 17); stop that" in refused.stderr
        # It lets go of its runs while it is watched.
        looks = iter((lambda: None, lambda: None, lambda: None, other.close))
        monkeypatch.setattr("karat.experiments.store.base.sleep", lambda _: next(looks)())
        deleted = karat("runs", "delete", "latest")
    assert deleted.stdout == f"deleted {experiment}\n"
    assert deleted.stderr == (
        "Waiting up to 20 s to see whether the process that works on this experiment (host m1, "
        "process 17) is alive\n"
    )


def test_what_is_not_there(karat: Karat, experiment_id: str) -> None:
    done = karat("runs", "show", "latest.3")
    assert done.returncode == 2
    assert "has the runs 1 to 2" in done.stderr


def test_nothing_is_made_by_looking(karat: Karat, folder: Path) -> None:
    done = karat("runs", "list", "--store", "other/karat.db")
    assert done.returncode == 2
    assert "other/karat.db: no results stored yet" in done.stderr
    assert not (folder / "other").exists()


def test_the_environment_names_the_store(
    karat: Karat, experiment_id: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".karat").rename(folder / "kept")
    monkeypatch.setenv("KARAT_STORE", "kept/karat.db")
    assert karat("runs", "show", experiment_id).returncode == 0


def test_git_leaves_the_store_alone(experiment_id: str, folder: Path) -> None:
    assert (folder / ".karat" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_run_that_is_not_done_is_called_so(karat: Karat, folder: Path) -> None:
    with open_store(str(folder / ".karat" / "karat.db"), new=True) as store:
        first = f"{store.experiment(PLAN)}.1"
        store.claim(first)
        store.add(first, Answer("q1", (Hit("1.py", 1.0),)))
    done = karat("runs", "export", "latest.1", "-o", "first.run")
    assert done.returncode == 0, done.stderr
    assert f"note: {first} has only 1 of 2 answers; it is " in done.stderr
