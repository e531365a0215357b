"""The contract of recorders, the part of a store that records a run."""

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf, nan
from socket import gethostname

import pytest

from karat.errors import InputError, UnknownName
from karat.experiments.store import (
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    RunStatus,
    Store,
    StoredQueryResult,
)
from karat.model import Answer, Dataset, Hit, Outcome, Query, Target
from karat.model.spec import Spec
from karat.model.timings import LatencySample, Timings

__all__ = [
    "ANSWERS",
    "ELSEWHERE",
    "PLAN",
    "QUERIES",
    "OpenStore",
    "RecorderSuite",
    "dead_worker",
    "shown",
]

OpenStore = Callable[[str | None], Store]

ELSEWHERE = "another-machine:1"

# Texts that mean something to SQL, to a format string or to JSON.
AWKWARD = [
    "'); DROP TABLE runs; --",
    "%s",
    ":run",
    "{}",
    '"',
    "a\\b",
    "Größe/日本語/🔍",
    "a\nb",
    " ",
]

QUERIES = [
    Query("q1", "where is login", (Target("auth.py", 2.0, 3, 9, "login"), Target("b.py"))),
    Query("q2", "send mail", (Target("mail.py"),), {"area": "mail"}, {"note": [1, None, "x"]}),
    *(Query(f"id {text}", f"text {text}", (Target(f"path {text}"),)) for text in AWKWARD),
]

PLAN = ExperimentDefinition(
    "nightly",
    ExperimentKind.COMPARE,
    Dataset.of(QUERIES, name="gold", match="lines", metadata={"repository": "r"}),
    (
        RunDefinition("bm25", Spec("engine", "bm25", {"k1": 1.5}), "ab" * 32, {"k": 100}),
        RunDefinition("dense", Spec("engine", "dense", {"model": ["a", {"b": None}]})),
    ),
    config={"command": ["karat", "compare"], "depth": 100},
    seed=7,
    version="1.2.3",
)

ANSWERS: list[tuple[Answer, LatencySample | None]] = [
    (
        Answer("q1", (Hit("auth.py", 1.25, 3, 9, "login", 40), Hit("b.py")), latency_ns=1_500),
        LatencySample("q1", 9_000, (1_000, 2_000), 500, {"embed": 3, "search": 4}, 120, 0.25),
    ),
    (Answer("q2", outcome=Outcome.TIMEOUT, extra={"error": "30 s\0\ud800", "after": [1]}), None),
    (
        Answer(QUERIES[2].id, (Hit("x", nan), Hit("\ud800\0", inf), Hit("", -inf, 9, 3))),
        LatencySample(QUERIES[2].id, 1),
    ),
    (Answer(QUERIES[3].id, outcome=Outcome.ERROR), None),
    (Answer(QUERIES[4].id, tuple(Hit(f"{n}.py", 1 / (n + 1)) for n in range(300))), None),
]


def shown(answer: Answer) -> str:
    """Return all of *answer* as text, since no NaN equals another."""
    return repr((*answer[:-1], dict(answer.extra)))


def dead_worker() -> str:
    """Return the name of a process of this machine that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return f"{gethostname()}:{process.pid}"


class RecorderSuite:
    """What holds while runs are recorded; a subclass provides the fixture ``open_store``."""

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[Store]:
        """Return an empty store."""
        store = open_store(None)
        yield store
        store.close()

    @pytest.fixture
    def run(self, store: Store) -> str:
        """Return the first run of an experiment, claimed."""
        run = store.show(store.experiment(PLAN)).runs[0].id
        assert store.claim(run)
        return run

    def test_a_run_comes_back(self, store: Store, run: str) -> None:
        """Every field of every hit and sample, in the order in which the answers came."""
        for answer, sample in ANSWERS:
            assert store.add(run, answer, sample)
        samples = tuple(sample for _, sample in ANSWERS if sample)
        timings = Timings(samples, 10, 20, 30, warm_up=2, repetitions=3, alone=True)
        store.finish(run, RunStatus.COMPLETED, timings=timings, notes={"invalid": {"x": 1}})
        found = store.measured(run)
        assert [*map(shown, found.run.answers())] == [shown(answer) for answer, _ in ANSWERS]
        assert found.timings == timings
        assert (found.name, found.run.name, found.run.metadata) == ("bm25", "bm25", {"k": 100})
        assert found.engine == PLAN.runs[0].engine.digest
        assert found.notes == {"invalid": {"x": 1}}

    def test_many_at_once(self, store: Store, run: str) -> None:
        """As if they had come one by one; new ones are counted."""
        assert store.add_many([]) == 0
        assert store.add_many(StoredQueryResult(run, *kept) for kept in ANSWERS[:2]) == 2
        assert store.add_many(StoredQueryResult(run, *kept) for kept in ANSWERS) == len(ANSWERS) - 2
        kept = [*map(shown, store.measured(run).run.answers())]
        assert kept == [shown(answer) for answer, _ in ANSWERS]

    def test_many_or_none(self, store: Store, run: str) -> None:
        """One answer that cannot be stored rolls back those beside it."""
        wrong = Answer("q2", extra={"error": object()})
        with pytest.raises(InputError, match="cannot be stored as JSON"):
            store.add_many([StoredQueryResult(run, *ANSWERS[0]), StoredQueryResult(run, wrong)])
        assert store.answered(run) == frozenset()

    def test_what_outlives_the_store(self, store: Store, open_store: OpenStore, run: str) -> None:
        """Closing loses nothing, and another connection sees everything."""
        store.add(run, *ANSWERS[0])
        other = open_store(None)
        assert other.answered(run) == {"q1"}
        other.close()
        other.close()
        store.close()
        again = open_store(None)
        assert [*map(shown, again.measured(run).run.answers())] == [shown(ANSWERS[0][0])]
        again.close()

    def test_an_answer_is_kept_once(self, store: Store, open_store: OpenStore, run: str) -> None:
        """Of two answers to one query the first stays."""
        assert store.add(run, *ANSWERS[0])
        other = open_store(ELSEWHERE)
        assert not other.add(run, Answer("q1", (Hit("other.py"),)), LatencySample("q1", 5))
        assert (
            other.add_many(
                [StoredQueryResult(run, Answer("q1")), StoredQueryResult(run, *ANSWERS[1])]
            )
            == 1
        )
        other.close()
        found = store.measured(run).run
        assert [*map(shown, found.answers())] == [shown(answer) for answer, _ in ANSWERS[:2]]

    def test_times_may_come_later(self, store: Store, run: str) -> None:
        """A pass for quality keeps the hits, a later one for the times adds these, once."""
        answer = Answer("q1", (Hit("a.py"),))
        assert store.add(run, answer)
        assert store.answered(run) == {"q1"}
        assert store.answered(run, timed=True) == frozenset()
        assert store.add(run, Answer("q1", (Hit("b.py"),)), LatencySample("q1", 5, (4, 3)))
        assert store.answered(run, timed=True) == {"q1"}
        assert not store.add(run, answer, LatencySample("q1", 6))
        assert not store.add(run, answer)
        timings = Timings((LatencySample("q1", 5, (4, 3)),), 1, 0, 0, 1, 3, alone=True)
        store.finish(run, RunStatus.COMPLETED, timings=timings)
        found = store.measured(run)
        assert found.timings == timings
        assert [hit.path for hit in found.run.answer(0).hits] == ["a.py"]

    @pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.TIMEOUT])
    def test_what_has_failed_has_no_times(self, store: Store, run: str, outcome: Outcome) -> None:
        """Also where it was answered, and timed, later."""
        assert store.add(run, Answer("q1", outcome=outcome, extra={"error": "no"}))
        assert store.answered(run, timed=True) == {"q1"}
        assert not store.add(run, Answer("q1", (Hit("a.py"),)), LatencySample("q1", 5))
        assert store.add_many([StoredQueryResult(run, Answer("q1"), LatencySample("q1", 5))]) == 0
        store.finish(run, RunStatus.COMPLETED, timings=Timings((), 1, 0, 0, 1, 3, alone=True))
        found = store.measured(run)
        assert found.timings
        assert found.timings.samples == ()
        assert found.run.answer(0).outcome is outcome

    def test_times_belong_to_their_query(self, store: Store, run: str) -> None:
        """Those of another are refused."""
        with pytest.raises(InputError, match="the times of 'q2' came with answer 'q1'"):
            store.add(run, Answer("q1"), LatencySample("q2", 1))
        assert store.answered(run) == frozenset()

    def test_runs_are_apart(self, store: Store, run: str) -> None:
        """The same query of two runs is two answers."""
        second = store.show(run.partition(".")[0]).runs[1].id
        assert store.add(run, *ANSWERS[0])
        assert store.add(second, *ANSWERS[0])
        assert store.answered(second) == {"q1"}
        assert [entry.answers for entry in store.latest().runs] == [1, 1]

    def test_a_run_begins_anew(self, store: Store, run: str) -> None:
        """Without its answers, and with no harm to others."""
        second = store.show(run.partition(".")[0]).runs[1].id
        store.add(run, *ANSWERS[0])
        store.add(second, *ANSWERS[0])
        store.clear(run)
        assert store.answered(run) == frozenset()
        assert store.answered(second) == {"q1"}
        assert store.add(run, *ANSWERS[0])
        with pytest.raises(UnknownName, match="no run"):
            store.clear("x.1")

    def test_a_run_is_claimed_by_one(self, store: Store, open_store: OpenStore) -> None:
        """Until that one ends it, or dies; its own claim it may repeat."""
        run = store.show(store.experiment(PLAN)).runs[0].id
        elsewhere, gone = open_store(ELSEWHERE), open_store(dead_worker())
        assert gone.claim(run)
        gone.begin(run)
        assert elsewhere.claim(run)
        assert elsewhere.claim(run)
        assert not store.claim(run)
        elsewhere.finish(run, RunStatus.FAILED, error="it broke\0\ud800")
        assert store.show(run.partition(".")[0]).runs[0].error == "it broke??"
        assert store.claim(run)
        assert not elsewhere.claim(run)
        store.finish(run, RunStatus.COMPLETED)
        assert not store.claim(run)
        # Who begins without a claim has it from then on.
        second = store.show(run.partition(".")[0]).runs[1].id
        elsewhere.begin(second)
        assert not store.claim(second)
        elsewhere.close()
        gone.close()

    def test_a_worker_without_its_lease_changes_nothing(
        self, store: Store, open_store: OpenStore
    ) -> None:
        """A worker that was taken for dead may still speak; its answers are as good as any."""
        run = store.show(store.experiment(PLAN)).runs[0].id
        slow = open_store(dead_worker())
        assert slow.claim(run)
        assert store.claim(run)
        slow.begin(run)
        slow.finish(run, RunStatus.CANCELLED)
        assert store.show(run.partition(".")[0]).runs[0].status == RunStatus.INDEXING
        assert slow.add(run, *ANSWERS[0])
        store.finish(run, RunStatus.COMPLETED)
        slow.finish(run, RunStatus.FAILED, error="late")
        found = store.show(run.partition(".")[0]).runs[0]
        assert (found.status, found.error, found.answers) == (RunStatus.COMPLETED, "", 1)
        slow.close()

    def test_where_a_run_stands(self, store: Store) -> None:
        """From pending to its end; the experiment stands where its runs stand."""
        experiment = store.experiment(PLAN)
        first, second = (run.id for run in store.show(experiment).runs)

        def stands() -> tuple[str, str]:
            found = store.show(experiment)
            return found.status, found.runs[0].status

        assert store.claim(first)
        assert stands() == ("running", "indexing")
        store.begin(first)
        assert stands() == ("running", "evaluating")
        store.finish(first, RunStatus.COMPLETED)
        assert stands() == ("pending", "completed")
        found = store.show(experiment).runs[0]
        assert found.begun
        assert found.ended
        assert found.begun <= found.ended
        for end in (RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.COMPLETED):
            assert store.claim(second)
            store.finish(second, end)
            assert stands()[0] == end
        for status in (RunStatus.PENDING, RunStatus.INDEXING, RunStatus.EVALUATING):
            with pytest.raises(InputError, match=f"a run cannot end as '{status}'"):
                store.finish(first, status)

    def test_times_are_unknown_until_the_end(self, store: Store, run: str) -> None:
        """And after an end that has not measured any."""
        store.add(run, *ANSWERS[0])
        assert store.measured(run).timings is None
        store.finish(run, RunStatus.COMPLETED)
        assert store.measured(run).timings is None

    def test_threads(self, store: Store, run: str) -> None:
        """Several may add at once, also the same answers; each is kept once."""
        answers = [Answer(f"q{number}", (Hit(f"{number}.py"),)) for number in range(40)]

        def add(start: int) -> int:
            ordered = answers[start:] + answers[:start]
            return sum(store.add(run, answer) for answer in ordered)

        with ThreadPoolExecutor(4) as threads:
            new = sum(threads.map(add, (0, 10, 20, 30)))
        assert new == len(answers)
        assert store.answered(run) == {answer.query_id for answer in answers}
