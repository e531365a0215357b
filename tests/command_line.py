"""A command line called in this process, and a small gold set with runs to call it on."""

from collections.abc import Callable
from dataclasses import replace
from math import nan
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.cli import main
from karat.experiments.store import (
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    RunStatus,
    open_store,
)
from karat.model import Answer, Dataset, Hit, Outcome, Query, Target
from karat.model.comparison import Interval
from karat.model.evaluation import Summary
from karat.model.spec import Spec
from karat.model.timings import LatencySample, Timings

# Query q3 is not in old.run, q4 has no relevant document and q9 is not in the gold set.
FILES = {
    "gold.qrels": "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\nq3 0 d 1\nq4 0 z 0\n",
    "old.run": "q1 Q0 x 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 c 1 1 t\nq9 Q0 a 1 1 t\n",
    "new.run": "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 d 1 1 t\nq4 Q0 z 1 1 t\n",
    "code.csv": (
        "query,result1,result2,level\n"
        "where is login,src/a.py:10-19:2,src/b.py:1-5:1,easy\n"
        "where is logout,src/c.rs:1-10:1,,hard\n"
        "where is reset,src/d.py:5-9:1,,hard\n"
    ),
    "code.jsonl": (
        '{"format": "karat-run", "version": 1, "name": "agent"}\n'
        '{"query_id": "1", "hits": ['
        '{"path": "src/a.py", "score": 2, "start_line": 10, "end_line": 29, "tokens": 50}, '
        '{"path": "src/a.py", "score": 1, "start_line": 10, "end_line": 29, "tokens": 50}]}\n'
        '{"query_id": "2", "outcome": "error", "hits": []}\n'
        '{"query_id": "3", "outcome": "timeout", "hits": []}\n'
    ),
}

Karat = Callable[..., CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, which holds FILES."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def karat(folder: Path, capsys: pytest.CaptureFixture[str]) -> Karat:
    """Return a function that runs `karat *arguments*` among FILES."""

    def run(*arguments: str) -> CompletedProcess[str]:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        streams = capsys.readouterr()
        # As the interpreter takes it: no code is 0.
        code = caught.value.code or 0
        assert isinstance(code, int)
        return CompletedProcess(arguments, code, streams.out, streams.err)

    return run


QUERIES = [
    Query(f"q{number}", f"where is {number}", (Target(f"{number}.py"),)) for number in (1, 2)
]
PLAN = ExperimentDefinition(
    "nightly",
    ExperimentKind.COMPARE,
    Dataset.of(QUERIES, name="gold"),
    (
        RunDefinition("keyword", Spec("engine", "keyword"), metadata={"k": 10}),
        RunDefinition("bm25 (k1=1.2)", Spec("engine", "bm25", {"k1": 1.2}), metadata={"k": 10}),
    ),
    seed=7,
    version="1.2.3",
)


@pytest.fixture
def experiment_id(folder: Path) -> str:
    """Return the id of an experiment in the store of the current folder.

    Its first run has found one target of two, and its second both and was timed; it took 2 and
    4 ms. The query that the first has missed ended with an error.
    """
    with open_store(str(folder / ".karat" / "karat.db"), new=True) as store:
        experiment = store.experiment(PLAN)
        first, second = f"{experiment}.1", f"{experiment}.2"
        store.claim(first)
        store.add(first, Answer("q1", (Hit("2.py", 2.0), Hit("1.py", 1.0))))
        store.add(first, Answer("q2", outcome=Outcome.ERROR, extra={"error": "broke"}))
        store.finish(first, RunStatus.COMPLETED, notes={"seed": 7})
        interval = Interval(0.1, 0.4, 0.95, "t")
        store.keep_scores(first, [Summary("mrr", 0.25, 0.5, 2, interval)])
        store.claim(second)
        for number in (1, 2):
            sample = LatencySample(f"q{number}", 9_000_000, (number * 2_000_000,))
            store.add(second, Answer(f"q{number}", (Hit(f"{number}.py", 1.0),)), sample)
        timings = Timings((), 5, 6, 7, warm_up=3, repetitions=2, alone=True)
        store.finish(second, RunStatus.FAILED, error="gone", timings=timings)
    return experiment


@pytest.fixture
def unanswered(folder: Path, experiment_id: str) -> str:
    """Return the id of a newer experiment; its second run has an error for every query."""
    plan = replace(PLAN, name="broken")
    with open_store(str(folder / ".karat" / "karat.db")) as store:
        experiment = store.experiment(plan)
        first, second = f"{experiment}.1", f"{experiment}.2"
        for run in (first, second):
            store.claim(run)
        for query in ("q1", "q2"):
            store.add(first, Answer(query, (Hit(f"{query[1]}.py", 1.0),)))
            store.add(second, Answer(query, outcome=Outcome.ERROR, extra={"error": "no file"}))
        store.finish(first, RunStatus.COMPLETED)
        store.keep_scores(first, [Summary("mrr", 1.0, 1.0, 2)])
        error = "no query was answered; the first error: no file"
        store.finish(second, RunStatus.FAILED, error=error)
        store.keep_scores(second, [Summary("mrr", 0.0, nan, 2)])
    return experiment
