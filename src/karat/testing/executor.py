"""The law of executors, as tests that any executor inherits.

class TestMyExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self):
        return MyExecutor(...)
"""

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101

import threading

import pytest

from karat.corpus import from_texts
from karat.engines.spec import build, parse_spec
from karat.experiments import Executor, Work
from karat.experiments.workers import Configuration, Hooks, RunEvent, RunSettings, Source, one_visit
from karat.model import Answer, Dataset, Query
from karat.model.timings import Sample
from karat.testing.engines import DOCUMENTS

__all__ = ["ExecutorSuite"]

QUERIES = Dataset.of(
    [Query(f"q{row}", text) for row, text in enumerate(("login", "message", "cache key", "zebra"))]
)
ENGINES = ("bm25", "bm25(k1=1.2)")
ONCE = RunSettings(warm_up=0, repetitions=1)


class _Kept:
    """Remembers what the hooks are told, and in which threads."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Answer] = {}
        self.samples: list[Sample | None] = []
        self.events: list[RunEvent] = []
        self.threads: set[int] = set()

    def on_answer(self, run: str, answer: Answer, sample: Sample | None) -> None:
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
    def work(self) -> Work:
        """Return engines that share an index, one tree for all queries, and nobody who hears."""
        engines = [Configuration(name, parse_spec(name), k=5) for name in ENGINES]
        visits = one_visit(QUERIES, Source.of_texts(DOCUMENTS), seed=0)
        return Work(engines, QUERIES, visits, ONCE, Hooks())

    def test_each_finds_what_it_finds_alone(self, executor: Executor, work: Work) -> None:
        """The hits of every engine are its own, and each query is answered once."""
        kept = _Kept()
        hooks = Hooks(listen=kept.listen, sink=kept)
        found = executor.quality(work._replace(hooks=hooks))
        assert [one.name for one in found] == list(ENGINES)
        assert len(kept.answers) == len(ENGINES) * len(QUERIES)
        assert kept.samples == [None] * len(kept.answers)
        for one in work.configurations:
            engine = build(one.spec)
            engine.index(from_texts(DOCUMENTS))
            for query_id, text in zip(QUERIES.query_ids, QUERIES.texts, strict=True):
                assert list(kept.answers[one.name, query_id].hits) == engine.search(text, one.k)

    def test_times_are_told_with_the_answers(self, executor: Executor, work: Work) -> None:
        """One cold time for each answer, and as many warm ones as are wanted."""
        kept = _Kept()
        settings = RunSettings(warm_up=1, repetitions=3)
        found = executor.timing(work._replace(settings=settings, hooks=Hooks(sink=kept)))
        assert all(sample and len(sample.warm_ns) == 2 for sample in kept.samples)
        for one in found:
            assert one.timings is not None
            assert len(one.timings.samples) == len(QUERIES)
            assert one.timings.index_ns > 0

    def test_what_is_known_is_not_asked(self, executor: Executor, work: Work) -> None:
        """Of each run only what it lacks."""
        kept = _Kept()
        hooks = Hooks(sink=kept, skip={ENGINES[0]: {"q0", "q1"}, ENGINES[1]: {"q1"}})
        executor.quality(work._replace(hooks=hooks))
        asked = {name: {query for run, query in kept.answers if run == name} for name in ENGINES}
        assert asked == {ENGINES[0]: {"q2", "q3"}, ENGINES[1]: {"q0", "q2", "q3"}}

    def test_hooks_are_called_where_the_work_was_asked_for(
        self, executor: Executor, work: Work
    ) -> None:
        """In the thread of the caller, so that a store need not be shared between threads."""
        kept = _Kept()
        hooks = Hooks(listen=kept.listen, sink=kept)
        executor.quality(work._replace(hooks=hooks))
        assert kept.threads == {threading.get_ident()}
        kinds = {event.kind for event in kept.events}
        assert {"started", "indexed", "answered", "finished"} <= kinds

    def test_cancelled_work_says_so(self, executor: Executor, work: Work) -> None:
        """Nothing is asked, and no run is taken for complete."""
        hooks = Hooks(cancelled=lambda: True)
        for ask in (executor.quality, executor.timing):
            found = ask(work._replace(hooks=hooks))
            assert [one.notes["status"] for one in found] == ["cancelled"] * len(ENGINES)

    def test_an_engine_that_fails_costs_its_own_run(self, executor: Executor, work: Work) -> None:
        """The others are asked to the end."""
        nothing = parse_spec({"engine": "python", "class": "karat_testing_nothing:Here"})
        wrong = Configuration("wrong", nothing)
        found = executor.timing(work._replace(configurations=[wrong, *work.configurations]))
        statuses = [one.notes["status"] for one in found]
        assert statuses == ["failed", "completed", "completed"]
        assert found[0].notes["error"]
