"""Writers that are killed at any moment, and writers that write the same run.

As a program, ``test_crash.py FILE RUN SEED`` is such a writer: it adds the answers that are still
missing, in an order of its own, and says of each whether it was the first.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

from karat.experiments.store import (
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    RunStatus,
    SqlStore,
)
from karat.model import Answer, Dataset, Hit, Query
from karat.model.spec import Spec
from karat.model.timings import LatencySample, Timings

QUERIES = 240
KILLS = 3


def answer_to(number: int) -> tuple[Answer, LatencySample]:
    """Return what every writer answers to a query."""
    hits = tuple(Hit(f"src/{number}/{rank}.py", 1 / rank, rank, 2 * rank) for rank in range(1, 51))
    return Answer(f"q{number}", hits, latency_ns=number), LatencySample(
        f"q{number}", number, (1, number)
    )


def write(path: str, run: str, seed: str) -> None:
    with SqlStore(path) as store:
        store.claim(run)
        store.begin(run)
        done = store.answered(run)
        order = [number for number in range(QUERIES) if f"q{number}" not in done]
        Random(int(seed)).shuffle(order)
        for number in order:
            if store.add(run, *answer_to(number)):
                sys.stdout.write(f"q{number}\n")
                sys.stdout.flush()


def planned(path: Path) -> str:
    """Make a store with one experiment, and return its first run."""
    gold = Dataset.of(Query(f"q{number}", "text") for number in range(QUERIES))
    plan = ExperimentDefinition(
        "crash", ExperimentKind.EVALUATE, gold, (RunDefinition("bm25", Spec("engine", "bm25")),)
    )
    with SqlStore(path) as store:
        return f"{store.experiment(plan)}.1"


def writer(path: Path, run: str, seed: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, __file__, str(path), run, str(seed)], stdout=subprocess.PIPE, text=True
    )


def check(path: Path, run: str, said: list[str]) -> None:
    """Assert that the file is sound and holds whole answers, those said to be kept among them."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    with SqlStore(path) as store:
        kept = {answer.query_id: answer for answer in store.measured(run).run.answers()}
        assert store.answered(run) == store.answered(run, timed=True) == kept.keys()
    assert len(set(said)) == len(said)
    assert set(said) <= kept.keys()
    assert all(answer == answer_to(int(name[1:]))[0] for name, answer in kept.items())


def test_killed_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "karat.db"
    run = planned(path)
    rng = Random(5)
    said: list[str] = []
    for kill in range(KILLS):
        with writer(path, run, kill) as process:
            assert process.stdout is not None
            # It goes on writing while this line is read, so the kill comes at no certain point.
            said += [next(process.stdout).strip() for _ in range(rng.randrange(1, 40))]
            process.kill()
            # The last line may have been cut.
            rest = process.stdout.read()
            said += rest[: rest.rfind("\n") + 1].split()
        check(path, run, said)
        assert len(said) < QUERIES
    with writer(path, run, KILLS) as process:
        said += process.communicate()[0].split()
    assert process.returncode == 0
    check(path, run, said)
    with SqlStore(path) as store:
        # Killed between keeping and saying so, at most once a kill.
        assert QUERIES - KILLS <= len(said) <= QUERIES
        assert store.claim(run)
        store.finish(run, RunStatus.COMPLETED, timings=Timings((), 1, 0, 0, 0, 3, alone=True))
        found = store.measured(run)
    assert len(found.run) == QUERIES
    assert found.timings
    assert sorted(found.timings.samples) == sorted(answer_to(n)[1] for n in range(QUERIES))


def test_three_write_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "karat.db"
    run = planned(path)
    writers = [writer(path, run, seed) for seed in range(3)]
    said = [process.communicate()[0].split() for process in writers]
    assert [process.returncode for process in writers] == [0, 0, 0]
    first = [name for names in said for name in names]
    assert len(first) == len(set(first)) == QUERIES
    check(path, run, first)


if __name__ == "__main__":
    write(*sys.argv[1:])
