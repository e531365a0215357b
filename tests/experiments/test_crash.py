"""A sweep that is killed at any moment continues, and ends as if nothing had happened.

As a program, ``test_crash.py STORE FOLDER`` runs that sweep and prints every event.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from karat.errors import InputError
from karat.experiments import Configuration
from karat.experiments.plan import ExperimentRequest
from karat.experiments.run import ExperimentResult, run_experiment
from karat.experiments.store import ExperimentKind, RunStatus, SqlStore
from karat.experiments.target_check import Where
from karat.experiments.workers import RunEvent, RunSettings
from karat.model import Dataset, Hit, Outcome, Query, Target
from karat.model.spec import Spec
from karat.scoring.settings import Scoring

WORDS = ("login", "password", "send", "message", "token", "session")
QUERIES = 30
KILLS = 4


def request(folder: str) -> ExperimentRequest:
    """Return a sweep whose searches are partly shared, some of its queries timed."""
    rows = [
        Query(f"q{row}", f"{WORDS[row % 6]} {WORDS[row % 5]}", (Target(f"m{row % 7}.py"),))
        for row in range(QUERIES)
    ]
    words, other = Spec("engine", "bm25"), Spec("engine", "bm25", {"k1": 1.2})
    return ExperimentRequest(
        gold=Dataset.of(rows, name="gold", match="exact"),
        configurations=(
            Configuration("five", words, 5),
            Configuration("two", words, 2),
            Configuration("strict", words, 5, threshold=0.9),
            Configuration("other", other, 5),
            Configuration("keyword", Spec("engine", "keyword"), 5),
        ),
        where=Where(corpus=folder),
        kind=ExperimentKind.SWEEP,
        scoring=Scoring(measures=("mrr@5", "hit@2")),
        settings=RunSettings(warm_up=1, repetitions=2),
        timed=4,
        workers=2,
    )


def main(store: str, folder: str) -> None:
    """Run the sweep, and say each event."""

    def say(event: RunEvent) -> None:
        sys.stdout.write(f"{event.kind}\n")
        sys.stdout.flush()

    with SqlStore(store) as kept:
        run_experiment(request(folder), kept, listen=say)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    place = tmp_path / "project"
    place.mkdir()
    for number in range(7):
        lines = [f"def {WORDS[(number + step) % 6]}(): ..." for step in range(number % 4 + 1)]
        (place / f"m{number}.py").write_text("\n".join(lines) + "\n")
    return str(place)


def started(store: Path, folder: str) -> "subprocess.Popen[str]":
    command = [sys.executable, __file__, str(store), folder]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def hits(done: ExperimentResult) -> list[list[tuple[str, Sequence[Hit], Outcome]]]:
    """Return all answers but their times, which differ."""
    return [
        sorted((one.query_id, one.hits, one.outcome) for one in measured.run.answers())
        for measured in done.measured
    ]


def timed(done: ExperimentResult) -> list[set[str]]:
    return [
        {sample.query_id for sample in measured.timings.samples} if measured.timings else set()
        for measured in done.measured
    ]


def test_killed_at_random_points(folder: str, tmp_path: Path) -> None:
    place = tmp_path / "killed.db"
    chance = Random(5)
    for _ in range(KILLS):
        with started(place, folder) as process:
            assert process.stdout is not None
            # An uninterrupted sweep tells of some 200 events.
            for _ in range(chance.randrange(1, 70)):
                process.stdout.readline()
            process.kill()
    with SqlStore(place) as store:
        before = {run.label: run.answers for run in store.experiments(limit=1)[0].runs}
        done = run_experiment(request(folder), store)
        scores = [store.scores(run.id) for run in done.experiment.runs]
    assert 0 < sum(before.values()) < 5 * QUERIES
    with SqlStore(tmp_path / "whole.db") as store:
        whole = run_experiment(request(folder), store)
        assert scores == [store.scores(run.id) for run in whole.experiment.runs]
    assert done.experiment.id == whole.experiment.id
    assert {run.status for run in done.experiment.runs} == {RunStatus.COMPLETED}
    assert hits(done) == hits(whole)
    assert timed(done) == timed(whole)
    for measured in done.measured:
        assert len(measured.run) == len(set(measured.run.query_ids)) == QUERIES
    assert {len(queries) for queries in timed(done)} == {4}


def test_a_second_process_is_told_of_the_first(folder: str, tmp_path: Path) -> None:
    place = tmp_path / "both.db"
    with started(place, folder) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with (
            SqlStore(place) as store,
            pytest.raises(InputError, match="is being run by another process"),
        ):
            run_experiment(request(folder), store)
        process.stdout.read()
    assert process.returncode == 0
    with SqlStore(place) as store:
        assert {run.status for run in store.latest().runs} == {RunStatus.COMPLETED}


if __name__ == "__main__":
    main(*sys.argv[1:])
