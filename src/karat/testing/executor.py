"""The contract of executors, as tests that any executor inherits.

class TestMyExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self):
        return MyExecutor(...)
"""

# A suite of tests asserts outside of tests/, too.
# ruff: noqa: S101

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.spec import build, parse_spec
from karat.errors import ProcessError
from karat.experiments.executors import Executor
from karat.experiments.measure import measure_quality
from karat.experiments.workers import (
    Callbacks,
    Configuration,
    Group,
    RunEvent,
    RunSettings,
    Source,
    all_queries_on,
)
from karat.model import Answer, Dataset, Hit, Outcome, Query
from karat.model.timings import LatencySample, RunResult
from karat.testing.engines import DOCUMENTS

QUERIES = Dataset.of(
    [Query(f"q{row}", text) for row, text in enumerate(("login", "message", "cache key", "zebra"))]
)
ENGINES = ("bm25", "bm25(k1=1.2)")
SLOW_S = 0.2


class Recording:
    """Records the calls of callbacks, and their threads."""

    def __init__(self) -> None:
        """Start without a call."""
        self.answers: dict[tuple[str, str], Answer] = {}
        self.samples: list[LatencySample | None] = []
        self.events: list[RunEvent] = []
        self.threads: set[int] = set()

    def on_result(self, run: str, answer: Answer, sample: LatencySample | None) -> None:
        """Record a result, which no run has twice."""
        self.threads.add(threading.get_ident())
        assert (run, answer.query_id) not in self.answers
        self.answers[run, answer.query_id] = answer
        self.samples.append(sample)

    def listen(self, event: RunEvent) -> None:
        """Record an event."""
        self.threads.add(threading.get_ident())
        self.events.append(event)


class TimedSlot(NamedTuple):
    """The *name* of a slot and of its *machine*."""

    name: str
    machine: str


class ExecutorSuite:
    """The contract of executors; a subclass provides the fixture ``executor``."""

    configurations = tuple(Configuration(name, parse_spec(name), k=5) for name in ENGINES)
    source = Source.of_texts(DOCUMENTS)

    def kill_one(self) -> None:
        """Kill a process that has a unit; a subclass overrides this if it can."""
        pytest.skip("this executor has no process to kill")

    def slot(self, executor: Executor) -> TimedSlot:  # noqa: ARG002
        """Return a slot for ``--timed-on``; a subclass overrides this if there are any."""
        pytest.skip("this executor measures latency on this machine only")

    def measure(
        self,
        executor: Executor,
        recording: Recording | None = None,
        *,
        groups: Sequence[Group] = (),
        source: Source | None = None,
        **callbacks: Any,
    ) -> list[RunResult]:
        """Run all queries on one snapshot, and note the calls of callbacks in *recording*."""
        recording = recording or Recording()
        return measure_quality(
            groups or [self.configurations],
            QUERIES,
            all_queries_on(QUERIES, source or self.source, seed=0),
            executor=executor,
            callbacks=Callbacks(
                **{"listen": recording.listen, "on_result": recording.on_result, **callbacks}
            ),
        )

    def test_each_finds_what_it_finds_alone(self, executor: Executor) -> None:
        """The hits of every engine are its own, and each query is answered once."""
        recording = Recording()
        runs = self.measure(executor, recording)
        assert [one.name for one in runs] == list(ENGINES)
        self.check_all(recording)

    def test_groups_run_side_by_side(self, executor: Executor) -> None:
        """Several engine groups have the same hits as one."""
        recording = Recording()
        runs = self.measure(executor, recording, groups=[(one,) for one in self.configurations])
        assert [one.notes["status"] for one in runs] == ["completed"] * len(ENGINES)
        self.check_all(recording)

    def check_all(self, recording: Recording) -> None:
        """Compare all results with those of engines in this process."""
        assert recording.samples == [None] * len(recording.answers)
        self.check_hits(recording)

    def check_hits(self, recording: Recording) -> None:
        """Compare all hits with those of engines in this process."""
        assert len(recording.answers) == len(ENGINES) * len(QUERIES)
        for one in self.configurations:
            engine = build(one.spec)
            engine.index(from_texts(DOCUMENTS))
            for query_id, text in zip(QUERIES.query_ids, QUERIES.texts, strict=True):
                assert list(recording.answers[one.name, query_id].hits) == engine.search(
                    text, one.k
                )

    def test_known_results_are_skipped(self, executor: Executor) -> None:
        """Of each run only what it lacks."""
        recording = Recording()
        self.measure(executor, recording, skip={ENGINES[0]: {"q0", "q1"}, ENGINES[1]: {"q1"}})
        asked = {
            name: {query for run, query in recording.answers if run == name} for name in ENGINES
        }
        assert asked == {ENGINES[0]: {"q2", "q3"}, ENGINES[1]: {"q0", "q2", "q3"}}

    def test_callbacks_run_in_the_thread_of_the_caller(self, executor: Executor) -> None:
        """A store need not be shared between threads."""
        recording = Recording()
        self.measure(executor, recording)
        assert recording.threads == {threading.get_ident()}
        kinds = {event.kind for event in recording.events}
        assert {"started", "indexed", "answered", "finished"} <= kinds

    def test_cancelled_work_says_so(self, executor: Executor) -> None:
        """No query runs, and no run counts as complete."""
        runs = self.measure(executor, cancelled=lambda: True)
        assert [one.notes["status"] for one in runs] == ["cancelled"] * len(ENGINES)

    def test_a_cancel_in_the_middle_keeps_what_is_done(self, executor: Executor) -> None:
        """What was answered stays, and the rest is run later."""
        first, rest = Recording(), Recording()
        slow = [(_slow_engine(),)]
        [one] = self.measure(
            executor, first, groups=slow, cancelled=lambda: len(first.answers) >= 1
        )
        assert one.notes["status"] == "cancelled"
        assert 1 <= len(first.answers) < len(QUERIES)
        done = {query for _, query in first.answers}
        [two] = self.measure(executor, rest, groups=slow, skip={"slow": done})
        assert two.notes["status"] == "completed"
        assert done | {query for _, query in rest.answers} == set(QUERIES.query_ids)
        assert not done & {query for _, query in rest.answers}

    def test_latency_is_measured_on_one_slot(self, executor: Executor) -> None:
        """The run says which machine that was; the hits are the same."""
        recording = Recording()
        slot = self.slot(executor)
        runs = executor.measure_latency(
            slot.name,
            self.configurations,
            QUERIES,
            all_queries_on(QUERIES, self.source, seed=0),
            settings=RunSettings(warm_up=1, repetitions=2),
            callbacks=Callbacks(listen=recording.listen, on_result=recording.on_result, wait=False),
        )
        self.check_hits(recording)
        assert recording.threads == {threading.get_ident()}
        for one in runs:
            assert one.notes["status"] == "completed"
            assert one.notes["timed_on"] == slot.machine
            assert one.timings
            assert [len(sample.warm_ns) for sample in one.timings.samples] == [1] * len(QUERIES)
            assert one.timings.index_ns > 0
            assert one.timings.peak_bytes > 0

    def test_an_engine_that_fails_costs_its_own_run(self, executor: Executor) -> None:
        """The other engines run all queries."""
        nothing = parse_spec({"engine": "python", "class": "karat_testing_nothing:Here"})
        wrong = Configuration("wrong", nothing)
        runs = self.measure(executor, groups=[(wrong,), self.configurations])
        statuses = [one.notes["status"] for one in runs]
        assert statuses == ["failed", "completed", "completed"]
        assert runs[0].notes["error"]

    def test_a_killed_process_costs_no_result(self, executor: Executor) -> None:
        """What was answered stays; what was not is run elsewhere."""
        recording = Recording()
        killed: list[str] = []

        def listen(event: RunEvent) -> None:
            recording.listen(event)
            if event.kind == "answered" and not killed:
                killed.append(event.run)
                self.kill_one()

        self.measure(executor, recording, listen=listen)
        self.check_all(recording)

    def test_a_folder_that_no_slot_has_is_named(self, executor: Executor, tmp_path: Path) -> None:
        """No answer comes from elsewhere."""
        recording = Recording()
        missing = Source.folder(str(tmp_path / "missing"))
        try:
            runs = self.measure(executor, recording, source=missing)
        except ProcessError as error:
            reasons = [str(error)]
        else:
            reasons = [str(one.notes["error"]) for one in runs]
        assert all("missing" in reason for reason in reasons)
        assert all(answer.outcome is Outcome.ERROR for answer in recording.answers.values())


def _slow_engine() -> Configuration:
    """Return an engine that waits long enough for a cancel between two queries."""
    spec = parse_spec({"engine": "python", "class": "karat.testing.executor:SlowEngine"})
    return Configuration("slow", spec, k=5)


class SlowEngine:
    """Finds nothing, slowly."""

    name = "slow"

    def index(self, corpus: Corpus) -> None:
        """Need no index."""

    def search(self, query: str, k: int) -> Sequence[Hit]:  # noqa: ARG002
        """Return no hit after a while."""
        time.sleep(SLOW_S)
        return []
