"""The contract of executors, as tests that any executor inherits.

class TestMyExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self):
        return MyExecutor(...)
"""

# A suite of tests asserts outside of tests/, too.
# ruff: noqa: S101

import threading

import pytest

from karat.corpus import from_texts
from karat.engines.spec import build, parse_spec
from karat.experiments import Executor, WorkUnit
from karat.experiments.workers import (
    Callbacks,
    Configuration,
    RunEvent,
    RunSettings,
    Source,
    all_queries_on,
)
from karat.model import Answer, Dataset, Query
from karat.model.timings import LatencySample
from karat.testing.engines import DOCUMENTS

__all__ = ["ExecutorSuite"]

QUERIES = Dataset.of(
    [Query(f"q{row}", text) for row, text in enumerate(("login", "message", "cache key", "zebra"))]
)
ENGINES = ("bm25", "bm25(k1=1.2)")
ONCE = RunSettings(warm_up=0, repetitions=1)


class _Recording:
    """Records the calls of callbacks, and their threads."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Answer] = {}
        self.samples: list[LatencySample | None] = []
        self.events: list[RunEvent] = []
        self.threads: set[int] = set()

    def on_result(self, run: str, answer: Answer, sample: LatencySample | None) -> None:
        self.threads.add(threading.get_ident())
        assert (run, answer.query_id) not in self.answers
        self.answers[run, answer.query_id] = answer
        self.samples.append(sample)

    def listen(self, event: RunEvent) -> None:
        self.threads.add(threading.get_ident())
        self.events.append(event)


class ExecutorSuite:
    """What holds for every executor; a subclass provides the fixture ``executor``."""

    @pytest.fixture
    def work(self) -> WorkUnit:
        """Return engines that share an index, one snapshot for all queries, and no callback."""
        engines = [Configuration(name, parse_spec(name), k=5) for name in ENGINES]
        snapshots = all_queries_on(QUERIES, Source.of_texts(DOCUMENTS), seed=0)
        return WorkUnit(engines, QUERIES, snapshots, ONCE, Callbacks())

    def test_each_finds_what_it_finds_alone(self, executor: Executor, work: WorkUnit) -> None:
        """The hits of every engine are its own, and each query is answered once."""
        recording = _Recording()
        callbacks = Callbacks(listen=recording.listen, on_result=recording.on_result)
        found = executor.quality(work._replace(callbacks=callbacks))
        assert [one.name for one in found] == list(ENGINES)
        assert len(recording.answers) == len(ENGINES) * len(QUERIES)
        assert recording.samples == [None] * len(recording.answers)
        for one in work.configurations:
            engine = build(one.spec)
            engine.index(from_texts(DOCUMENTS))
            for query_id, text in zip(QUERIES.query_ids, QUERIES.texts, strict=True):
                assert list(recording.answers[one.name, query_id].hits) == engine.search(
                    text, one.k
                )

    def test_times_come_with_the_answers(self, executor: Executor, work: WorkUnit) -> None:
        """One cold time for each answer, and as many warm ones as are wanted."""
        recording = _Recording()
        settings = RunSettings(warm_up=1, repetitions=3)
        found = executor.timing(
            work._replace(settings=settings, callbacks=Callbacks(on_result=recording.on_result))
        )
        assert all(sample and len(sample.warm_ns) == 2 for sample in recording.samples)
        for one in found:
            assert one.timings is not None
            assert len(one.timings.samples) == len(QUERIES)
            assert one.timings.index_ns > 0

    def test_known_results_are_skipped(self, executor: Executor, work: WorkUnit) -> None:
        """Of each run only what it lacks."""
        recording = _Recording()
        callbacks = Callbacks(
            on_result=recording.on_result, skip={ENGINES[0]: {"q0", "q1"}, ENGINES[1]: {"q1"}}
        )
        executor.quality(work._replace(callbacks=callbacks))
        asked = {
            name: {query for run, query in recording.answers if run == name} for name in ENGINES
        }
        assert asked == {ENGINES[0]: {"q2", "q3"}, ENGINES[1]: {"q0", "q2", "q3"}}

    def test_hooks_are_called_where_the_work_was_asked_for(
        self, executor: Executor, work: WorkUnit
    ) -> None:
        """In the thread of the caller, so that a store need not be shared between threads."""
        recording = _Recording()
        callbacks = Callbacks(listen=recording.listen, on_result=recording.on_result)
        executor.quality(work._replace(callbacks=callbacks))
        assert recording.threads == {threading.get_ident()}
        kinds = {event.kind for event in recording.events}
        assert {"started", "indexed", "answered", "finished"} <= kinds

    def test_cancelled_work_says_so(self, executor: Executor, work: WorkUnit) -> None:
        """Nothing is asked, and no run is taken for complete."""
        callbacks = Callbacks(cancelled=lambda: True)
        for ask in (executor.quality, executor.timing):
            found = ask(work._replace(callbacks=callbacks))
            assert [one.notes["status"] for one in found] == ["cancelled"] * len(ENGINES)

    def test_an_engine_that_fails_costs_its_own_run(
        self, executor: Executor, work: WorkUnit
    ) -> None:
        """The others are asked to the end."""
        nothing = parse_spec({"engine": "python", "class": "karat_testing_nothing:Here"})
        wrong = Configuration("wrong", nothing)
        found = executor.timing(work._replace(configurations=[wrong, *work.configurations]))
        statuses = [one.notes["status"] for one in found]
        assert statuses == ["failed", "completed", "completed"]
        assert found[0].notes["error"]
