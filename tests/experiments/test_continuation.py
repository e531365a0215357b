"""A run has the answers of one engine: another one does not continue it."""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import nan
from pathlib import Path

import pytest

from karat.experiments import Configuration
from karat.experiments.continuation import (
    Continuation,
    StoredAnswers,
    Verdict,
    check_stored_answers,
    first_difference,
    queries_to_repeat,
)
from karat.experiments.plan import ExperimentRequest
from karat.experiments.run import ExperimentResult, run_experiment
from karat.experiments.store import ExperimentKind, RunStatus, SqlStore, StoredRun
from karat.experiments.target_check import Where
from karat.experiments.workers import RunEvent, RunSettings
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.spec import Spec

GOLD = Dataset.of(
    [Query(f"q{n}", f"word{n}", (Target("a.py"),)) for n in range(6)], name="gold", match="exact"
)
COMMAND = Spec("engine", "command", {"command": ["sh", "/search.sh"]})
BEGUN = datetime(2026, 11, 18, 19, 58, tzinfo=UTC)

# A search whose answer is in a file beside it: Karat sees the script, not the file.
SCRIPT = """
import json, sys
from pathlib import Path
path = Path(__file__).with_name("index.txt").read_text().strip()
if path == "broken":
    sys.exit("no index")
with open(__file__ + ".log", "a") as log:
    print(sys.argv[1], file=log)
print(json.dumps([{"path": path}] if path else []))
"""


def stored(answers: int = 3, *, content: Mapping[str, str] | None = None) -> StoredRun:
    return StoredRun(
        label="mine",
        engine=COMMAND,
        id="x.1",
        status=RunStatus.CANCELLED,
        error="",
        answers=answers,
        begun=BEGUN,
        ended=None,
        content=content,
    )


def answer(query_id: str, *hits: Hit, failed: bool = False) -> Answer:
    return Answer(query_id, hits, Outcome.ERROR if failed else Outcome.ANSWERED)


def older(*answers: Answer, spec: Spec = COMMAND, **changes: object) -> StoredAnswers:
    found = StoredAnswers("mine", spec, stored(), Run.of(answers), {"/search.sh": "new"}, 6)
    return found._replace(**changes)  # type: ignore[arg-type]


def decide(one: StoredAnswers, *now: Answer) -> Continuation:
    def repeat(wanted: Mapping[str, Collection[str]]) -> dict[str, dict[str, Answer]]:
        return {name: {each.query_id: each for each in now} for name in wanted}

    return check_stored_answers([one], repeat)["mine"]


A, B = Hit("a.py", 2.0), Hit("b.py", 1.0)


def test_a_changed_file_is_another_engine() -> None:
    before = older(answer("q0", A), stored=stored(content={"/search.sh": "old"}))

    def never(_: object) -> dict[str, dict[str, Answer]]:
        raise AssertionError("nothing needs to be repeated")

    verdict, text = check_stored_answers([before], never)["mine"]
    assert verdict is Verdict.DROPPED
    assert text.startswith("search.sh has changed since 2026-11-18 ")
    assert text.endswith("; 1 older answer is not used")


def test_the_same_hits_are_the_same_engine() -> None:
    close = A._replace(score=2.0 + 1e-9, tokens=40)
    verdict, text = decide(older(answer("q0", A, B)), answer("q0", close, B))
    assert verdict is Verdict.KEPT
    assert text.startswith("1 of 6 answers are from 2026-11-18 ")
    assert text.endswith("before the run was continued; 1 repeated query gave the same hits")


@pytest.mark.parametrize(
    ("now", "rank"),
    [
        ((B, A), 1),
        ((A,), 2),
        ((A, B, Hit("c.py")), 3),
        ((A, B._replace(score=0.9)), 2),
        ((A, B._replace(score=nan)), 2),
        ((A._replace(start_line=1, end_line=2), B), 1),
        ((A, B), 0),
    ],
)
def test_the_first_difference(now: tuple[Hit, ...], rank: int) -> None:
    assert first_difference((A, B), now) == rank
    verdict, text = decide(older(answer("q0", A, B)), answer("q0", *now))
    assert verdict is (Verdict.DROPPED if rank else Verdict.KEPT)
    assert (f"(first difference: rank {rank})" in text) == bool(rank)
    assert ("not deterministic" in text) == bool(rank)


def test_a_failed_query_decides_nothing() -> None:
    before = older(answer("q0", A), answer("q1", A), answer("q2", A))
    verdict, text = decide(before, answer("q0", failed=True), answer("q1", A), answer("q2", A))
    assert (verdict, text.endswith("2 repeated queries gave the same hits, 1 failed")) == (
        Verdict.KEPT,
        True,
    )
    down = Answer("q1", (), Outcome.ERROR, extra={"error": "no index\n  Traceback"})
    verdict, text = decide(before, answer("q0", failed=True), down)
    assert verdict is Verdict.UNKNOWN
    assert "3 stored queries failed when repeated" in text
    assert text.endswith("the first error: no index")


def test_built_in_engines_are_not_repeated() -> None:
    bm25 = older(answer("q0", A), spec=Spec("engine", "bm25"), content={})
    assert decide(bm25) == (Verdict.KEPT, "")
    # A chunker of the user, of which an earlier version has stored no hash.
    mine = bm25._replace(content={"/cut.py": "new"})
    assert decide(mine, answer("q0", B)).verdict is Verdict.DROPPED


def test_which_queries_are_repeated() -> None:
    answers = [answer(f"q{n}", A) for n in range(9)]
    found = queries_to_repeat(Run.of([answer("empty"), *answers, answer("late")]))
    assert [each.query_id for each in found] == ["q0", "q4", "q8"]
    unstable = Answer("u", (A,), extra={"unstable": True})
    few = Run.of([answer("e"), answer("f", failed=True), unstable, answer("q0", A)])
    assert {each.query_id for each in queries_to_repeat(few)} == {"q0", "e", "u"}
    assert queries_to_repeat(Run.of([answer("f", failed=True)])) == ()


Search = Callable[[str], Configuration]


@pytest.fixture
def search(tmp_path: Path) -> Search:
    """Return what makes a search by command, beside its index."""

    def make(name: str) -> Configuration:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "search.py").write_text(SCRIPT)
        (folder / "index.txt").write_text("a.py")
        command = [sys.executable, str(folder / "search.py"), "{query}"]
        return Configuration(name, Spec("engine", "command", {"command": command}), k=5)

    return make


@pytest.fixture
def store(tmp_path: Path) -> SqlStore:
    return SqlStore(tmp_path / "karat.db")


def request(tmp_path: Path, *configurations: Configuration, timed: int = 0) -> ExperimentRequest:
    corpus = tmp_path / "corpus"
    corpus.mkdir(exist_ok=True)
    for name in ("a.py", "b.py"):
        (corpus / name).write_text("word\n")
    return ExperimentRequest(
        gold=GOLD,
        configurations=configurations,
        where=Where(corpus=str(corpus)),
        kind=ExperimentKind.COMPARE,
        settings=RunSettings(warm_up=0, repetitions=1),
        timed=timed,
    )


def interrupt(asked: ExperimentRequest, store: SqlStore, *, run: str, after: int) -> None:
    def stop(event: RunEvent) -> None:
        if event.kind == "answered" and event.run == run and event.done >= after:
            raise KeyboardInterrupt

    assert run_experiment(asked, store, listen=stop).interrupted


def paths(done: ExperimentResult) -> list[set[tuple[str, ...]]]:
    """Return the different rankings of each run."""
    return [
        {tuple(hit.path for hit in each.hits) for each in one.run.answers()}
        for one in done.measured
    ]


def calls(tmp_path: Path, name: str) -> int:
    return len((tmp_path / name / "search.py.log").read_text().splitlines())


def test_a_run_goes_on_with_the_same_engine(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    asked = request(tmp_path, search("mine"))
    interrupt(asked, store, run="mine", after=4)
    before = calls(tmp_path, "mine")
    kept = store.latest().runs[0].answers
    done = run_experiment(asked, store)
    assert paths(done) == [{("a.py",)}]
    # Each new query runs twice, which shows whether the engine answers identically.
    assert calls(tmp_path, "mine") - before == 2 * (len(GOLD) - kept) + min(kept, 3)
    [remark] = [line for line in done.remarks if line.startswith("mine: ")]
    assert remark.startswith(f"mine: {kept} of 6 answers are from ")
    assert remark.endswith("3 repeated queries gave the same hits")


def test_a_changed_script_starts_the_run_again(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    asked = request(tmp_path, search("mine"))
    interrupt(asked, store, run="mine", after=4)
    (tmp_path / "mine" / "search.py").write_text('print("[]")')
    done = run_experiment(asked, store)
    assert paths(done) == [{()}]
    assert len(done.measured[0].run) == len(GOLD)
    assert done.experiment.status == RunStatus.COMPLETED
    [remark] = [line for line in done.remarks if "changed" in line]
    assert remark.startswith("mine: search.py has changed since ")
    # A later command that reads the results says so, too.
    assert remark in run_experiment(asked, store).remarks


def test_a_script_that_is_edited_during_the_run_is_named(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    script = tmp_path / "mine" / "search.py"
    asked = request(tmp_path, search("mine"))

    def edit(event: RunEvent) -> None:
        if event.kind == "answered" and event.done == 3:
            script.write_text('print("[]")')

    done = run_experiment(asked, store, listen=edit)
    text = (
        "mine: search.py has changed while the queries ran, so the answers may be of two searches; "
        "repeat the command"
    )
    assert text in done.remarks
    assert text in run_experiment(asked, store).remarks  # what is stored says so, too
    again = run_experiment(asked, store, again=True)
    assert paths(again) == [{()}]
    assert text not in again.remarks


def test_a_changed_index_starts_the_run_again(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    asked = request(tmp_path, search("mine"))
    interrupt(asked, store, run="mine", after=4)
    (tmp_path / "mine" / "index.txt").write_text("b.py")
    done = run_experiment(asked, store)
    assert paths(done) == [{("b.py",)}]
    assert any("returned other hits than before" in line for line in done.remarks)


def test_a_run_without_a_hash_is_repeated(search: Search, store: SqlStore, tmp_path: Path) -> None:
    """A store of version 0.2 does not know the files of an engine."""
    asked = request(tmp_path, search("mine"))
    interrupt(asked, store, run="mine", after=4)
    run = store.latest().runs[0].id
    kept = list(store.measured(run).run.answers())
    store.clear(run)
    for each in kept:
        store.add(run, each)
    assert store.latest().runs[0].content is None
    (tmp_path / "mine" / "search.py").write_text('print("[]")')
    done = run_experiment(asked, store)
    assert paths(done) == [{()}]


def test_an_engine_that_is_down_keeps_its_answers(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    asked = request(tmp_path, search("mine"))
    interrupt(asked, store, run="mine", after=4)
    kept = store.latest().runs[0].answers
    (tmp_path / "mine" / "index.txt").write_text("broken")
    done = run_experiment(asked, store)
    [run] = done.experiment.runs
    assert (run.status, run.answers) == (RunStatus.FAILED, kept)
    assert "no index" in run.error
    (tmp_path / "mine" / "index.txt").write_text("a.py")
    done = run_experiment(asked, store)
    assert paths(done) == [{("a.py",)}]
    assert done.experiment.status == RunStatus.COMPLETED


def test_only_the_changed_engine_starts_again(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    """Its run may be complete already, while another one is not."""
    asked = request(tmp_path, search("first"), search("second"))
    interrupt(asked, store, run="second", after=4)
    runs = store.latest().runs
    assert [run.status for run in runs] == [RunStatus.COMPLETED, RunStatus.CANCELLED]
    (tmp_path / "first" / "index.txt").write_text("b.py")
    before = calls(tmp_path, "second")
    done = run_experiment(asked, store, again=True)
    assert paths(done) == [{("b.py",)}, {("a.py",)}]
    assert calls(tmp_path, "second") - before == 2 * (len(GOLD) - runs[1].answers) + 3
    assert done.experiment.status == RunStatus.COMPLETED


def test_a_completed_run_stays_where_nothing_has_changed(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    asked = request(tmp_path, search("first"), search("second"))
    interrupt(asked, store, run="second", after=4)
    before = calls(tmp_path, "first")
    done = run_experiment(asked, store, again=True)
    assert calls(tmp_path, "first") - before == 3
    assert any(line.startswith("first: 6 of 6 answers are from ") for line in done.remarks)


def test_kept_results_are_not_checked(search: Search, store: SqlStore, tmp_path: Path) -> None:
    asked = request(tmp_path, search("first"), search("second"))
    interrupt(asked, store, run="second", after=4)
    (tmp_path / "first" / "index.txt").write_text("b.py")
    done = run_experiment(asked, store, again=False)
    assert paths(done) == [{("a.py",)}, {("a.py",)}]


def test_latencies_are_not_those_of_another_engine(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    asked = replace(request(tmp_path, search("mine"), timed=6), wait=False)
    interrupt(asked, store, run="mine", after=4)
    (tmp_path / "mine" / "search.py").write_text('print("[]")')
    done = run_experiment(asked, store)
    assert paths(done) == [{()}]
    assert done.measured[0].timings is not None
    assert len(done.measured[0].timings.samples) == len(GOLD)


def test_an_interrupted_check_loses_nothing(
    search: Search, store: SqlStore, tmp_path: Path
) -> None:
    asked = request(tmp_path, search("mine"))
    interrupt(asked, store, run="mine", after=4)
    kept = store.latest().runs[0].answers
    done = run_experiment(asked, store, cancelled=lambda: True)
    assert done.interrupted
    assert done.experiment.runs[0].answers == kept
    assert os.path.exists(tmp_path / "mine" / "search.py.log")  # noqa: PTH110
    assert paths(run_experiment(asked, store)) == [{("a.py",)}]
