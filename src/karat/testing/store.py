"""The contract of stores, as tests that any store inherits.

    class TestMyStore(StoreSuite):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda worker: MyStore(tmp_path, worker=worker, clock=...)

        @pytest.fixture
        def pass_time(self):
            return lambda seconds: ...

``open_store`` returns a function that opens the same store, empty at first, each time it is called,
as a process would for a worker of that name; None is any name that no other has. These stores send
no heartbeat by themselves. ``pass_time`` returns a function that lets so many seconds pass for the
leases in the store.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf, nan

import pytest

from karat.errors import InputError, KaratError, UnknownName
from karat.experiments.store import (
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    RunStatus,
    Store,
    StoredQueryResult,
    watch_holders,
)
from karat.experiments.store.base import LEASE_S
from karat.model import Answer, Dataset, Hit, Outcome, Query, Target
from karat.model.comparison import Interval
from karat.model.evaluation import Summary
from karat.model.spec import Spec
from karat.model.timings import LatencySample, Timings

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101


OpenStore = Callable[[str | None], Store]
PassTime = Callable[[float], None]

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


def answer_texts(answers: Iterable[Answer]) -> list[str]:
    """Return all of each answer as text, since no NaN equals another."""
    return [repr((*answer[:-1], dict(answer.extra))) for answer in answers]


def outlive(store: Store, run: str, pass_time: PassTime) -> None:
    """Watch the workers of the experiment of *run* until none of them can be alive."""
    experiment = run.partition(".")[0]
    assert watch_holders(store, experiment, on_wait=lambda _: None, wait=pass_time) == ()


class RecorderSuite:
    """The contract of recorders; a subclass provides ``open_store`` and ``pass_time``."""

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
        measured = store.measured(run)
        assert answer_texts(measured.run.answers()) == answer_texts(answer for answer, _ in ANSWERS)
        assert measured.timings == timings
        expected = {"k": 100, "ties": "order"}
        assert (measured.name, measured.run.name) == ("bm25", "bm25")
        assert measured.run.metadata == expected
        assert measured.engine == PLAN.runs[0].engine.digest
        assert measured.notes == {"invalid": {"x": 1}}

    def test_many_at_once(self, store: Store, run: str) -> None:
        """As if they had come one by one; new ones are counted."""
        assert store.add_many([]) == 0
        assert store.add_many(StoredQueryResult(run, *pair) for pair in ANSWERS[:2]) == 2
        assert store.add_many(StoredQueryResult(run, *pair) for pair in ANSWERS) == len(ANSWERS) - 2
        stored = store.measured(run).run
        assert answer_texts(stored.answers()) == answer_texts(answer for answer, _ in ANSWERS)

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
        assert answer_texts(again.measured(run).run.answers()) == answer_texts([ANSWERS[0][0]])
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
        stored = store.measured(run).run
        assert answer_texts(stored.answers()) == answer_texts(answer for answer, _ in ANSWERS[:2])

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
        measured = store.measured(run)
        assert measured.timings == timings
        assert [hit.path for hit in measured.run.answer(0).hits] == ["a.py"]

    @pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.TIMEOUT])
    def test_what_has_failed_has_no_times(self, store: Store, run: str, outcome: Outcome) -> None:
        """Also where it was answered, and timed, later."""
        assert store.add(run, Answer("q1", outcome=outcome, extra={"error": "no"}))
        assert store.answered(run, timed=True) == {"q1"}
        assert not store.add(run, Answer("q1", (Hit("a.py"),)), LatencySample("q1", 5))
        assert store.add_many([StoredQueryResult(run, Answer("q1"), LatencySample("q1", 5))]) == 0
        store.finish(run, RunStatus.COMPLETED, timings=Timings((), 1, 0, 0, 1, 3, alone=True))
        measured = store.measured(run)
        assert measured.timings
        assert measured.timings.samples == ()
        assert measured.run.answer(0).outcome is outcome

    def test_times_belong_to_their_query(self, store: Store, run: str) -> None:
        """Latencies of another query are rejected."""
        with pytest.raises(InputError, match="the latency of 'q2' came with the answer to 'q1'"):
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
        store.clear(run, content={"/search.py": "ab"})
        assert store.answered(run) == frozenset()
        assert store.answered(second) == {"q1"}
        assert store.add(run, *ANSWERS[0])
        assert [entry.content for entry in store.latest().runs] == [{"/search.py": "ab"}, None]
        store.clear(run)
        assert store.latest().runs[0].content is None
        with pytest.raises(UnknownName, match="no run"):
            store.clear("x.1")

    def test_a_run_is_claimed_by_one(self, store: Store, open_store: OpenStore) -> None:
        """Until that worker ends or releases it; a worker may repeat its own claim."""
        run = store.show(store.experiment(PLAN)).runs[0].id
        elsewhere, gone = open_store(ELSEWHERE), open_store("gone")
        assert gone.claim(run)
        gone.begin(run)
        assert not elsewhere.claim(run)
        gone.close()
        assert elsewhere.claim(run)
        assert elsewhere.claim(run)
        assert not store.claim(run)
        elsewhere.finish(run, RunStatus.FAILED, error="it broke\0\ud800")
        assert store.show(run.partition(".")[0]).runs[0].error == "it broke??"
        assert store.claim(run)
        assert not elsewhere.claim(run)
        store.finish(run, RunStatus.COMPLETED)
        assert not store.claim(run)
        assert elsewhere.claim(run, completed=True)
        assert not store.claim(run, completed=True)
        elsewhere.finish(run, RunStatus.COMPLETED)
        # ``begin`` without a claim claims the run.
        second = store.show(run.partition(".")[0]).runs[1].id
        elsewhere.begin(second)
        assert not store.claim(second)
        elsewhere.close()

    def test_a_worker_that_sends_heartbeats_is_alive(
        self, store: Store, open_store: OpenStore, pass_time: PassTime
    ) -> None:
        """However long it works; it is known as soon as a heartbeat was seen."""
        experiment = store.experiment(PLAN)
        other = open_store(ELSEWHERE)
        assert other.claim(f"{experiment}.2")
        assert store.holders(experiment) == ((ELSEWHERE, ("dense",), None),)
        assert other.holders(experiment) == ()

        def live(seconds: float) -> None:
            pass_time(seconds)
            other.heartbeat()

        for _ in range(int(LEASE_S)):
            (alive,) = watch_holders(
                store, experiment, on_wait=lambda _: pytest.fail("it was seen"), wait=live
            )
            assert alive == (ELSEWHERE, ("dense",), True)
            live(1.0)
        assert not store.claim(f"{experiment}.2")
        assert store.show(experiment).status == "running"
        other.finish(f"{experiment}.2", RunStatus.FAILED)
        assert store.holders(experiment) == ()
        other.close()

    def test_a_worker_without_heartbeats_is_dead_after_the_lease(
        self, store: Store, open_store: OpenStore, pass_time: PassTime
    ) -> None:
        """Not before, and not after a shorter pause; a waiting process is notified once."""
        experiment = store.experiment(PLAN)
        run = f"{experiment}.1"
        other = open_store(ELSEWHERE)
        assert other.claim(run)
        looks = int(LEASE_S / 2)
        for _ in range(3):
            store.holders(experiment)
            for _ in range(looks):
                pass_time(1.0)
                (holder,) = store.holders(experiment)
                assert holder.alive is not False
                assert not store.claim(run)
            other.heartbeat()
        waited: list[float] = []
        told: list[str] = []

        def wait(seconds: float) -> None:
            waited.append(seconds)
            pass_time(seconds)

        # Another process has seen no heartbeat yet.
        third = open_store(None)
        alive = watch_holders(
            third, experiment, on_wait=lambda one: told.append(one.worker), wait=wait
        )
        assert (alive, told) == ((), [ELSEWHERE])
        assert LEASE_S / 2 <= sum(waited) <= LEASE_S + 1
        assert third.show(experiment).runs[0].status == RunStatus.CANCELLED
        assert third.claim(run)
        third.close()
        other.close()

    def test_a_worker_without_its_lease_changes_nothing(
        self, store: Store, open_store: OpenStore, pass_time: PassTime
    ) -> None:
        """A worker that was declared dead may still write; its answers are valid."""
        run = store.show(store.experiment(PLAN)).runs[0].id
        slow = open_store("slow")
        assert slow.claim(run)
        outlive(store, run, pass_time)
        assert store.claim(run)
        slow.heartbeat()
        slow.begin(run)
        slow.finish(run, RunStatus.CANCELLED)
        assert store.show(run.partition(".")[0]).runs[0].status == RunStatus.INDEXING
        assert slow.add(run, *ANSWERS[0])
        store.finish(run, RunStatus.COMPLETED)
        slow.finish(run, RunStatus.FAILED, error="late")
        stored = store.show(run.partition(".")[0]).runs[0]
        assert (stored.status, stored.error, stored.answers) == (RunStatus.COMPLETED, "", 1)
        slow.close()

    def test_where_a_run_stands(self, store: Store) -> None:
        """From pending to its end; the status of the experiment follows from its runs."""
        experiment = store.experiment(PLAN)
        first, second = (run.id for run in store.show(experiment).runs)

        def stands() -> tuple[str, str]:
            stored = store.show(experiment)
            return stored.status, stored.runs[0].status

        assert store.claim(first)
        assert stands() == ("running", "indexing")
        store.begin(first)
        assert stands() == ("running", "evaluating")
        store.finish(first, RunStatus.COMPLETED)
        assert stands() == ("pending", "completed")
        ended = store.show(experiment).runs[0]
        assert ended.begun
        assert ended.ended
        assert ended.begun <= ended.ended
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


# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101


class StoreSuite(RecorderSuite):
    """The contract of stores; a subclass provides ``open_store`` and ``pass_time``."""

    def test_an_experiment_comes_back(self, store: Store) -> None:
        """All that the plan says, and where it runs."""
        experiment = store.show(store.experiment(PLAN))
        assert (experiment.name, experiment.kind) == ("nightly", ExperimentKind.COMPARE)
        assert experiment.seed == 7
        assert (experiment.config, experiment.version) == (PLAN.config, "1.2.3")
        assert experiment.queries == len(QUERIES)
        assert {"python", "platform", "cpu", "cores", "packages"} <= experiment.environment.keys()
        assert experiment.status == "pending"
        for position, (run, planned) in enumerate(zip(experiment.runs, PLAN.runs, strict=True), 1):
            assert run.id == f"{experiment.id}.{position}"
            assert (run.label, run.engine) == (planned.label, planned.engine)
            assert (run.snapshot, run.metadata) == (planned.snapshot, planned.metadata)
            assert (run.status, run.error, run.answers) == (RunStatus.PENDING, "", 0)
            assert (run.begun, run.ended) == (None, None)

    def test_a_gold_set_comes_back(self, store: Store) -> None:
        """Queries, targets, tags and metadata, in their order."""
        gold = store.dataset(store.show(store.experiment(PLAN)).dataset)
        assert list(gold.queries()) == QUERIES
        assert (gold.name, gold.match) == ("gold", "lines")
        assert gold.metadata == {"repository": "r"}

    def test_the_same_plan_continues(self, store: Store, run: str) -> None:
        """With the answers that it has; another plan is another experiment."""
        store.add(run, *ANSWERS[0])
        again = store.experiment(replace(PLAN))
        assert again == run.partition(".")[0]
        assert store.show(again).runs[0].answers == 1
        renamed = Dataset.of(PLAN.dataset.queries(), name="other", match="lines")
        assert store.experiment(replace(PLAN, dataset=renamed)) == again
        others = [
            replace(PLAN, name="weekly"),
            replace(PLAN, kind=ExperimentKind.SWEEP),
            replace(PLAN, dataset=Dataset.of(QUERIES[:2], match="lines")),
            replace(PLAN, runs=PLAN.runs[:1]),
            replace(PLAN, runs=(replace(PLAN.runs[0], snapshot="cd" * 32), PLAN.runs[1])),
            replace(PLAN, runs=(replace(PLAN.runs[0], metadata={"k": 10}), PLAN.runs[1])),
            replace(PLAN, config={}),
            replace(PLAN, seed=8),
            replace(PLAN, version="1.2.4"),
        ]
        assert len({again, *map(store.experiment, others)}) == 1 + len(others)

    def test_scores(self, store: Store, run: str) -> None:
        """They are replaced as a whole, and deleted when the run continues."""
        summaries = (
            Summary("ndcg@10", 0.5, 0.625, 8, Interval(0.25, 0.75, 0.95, "bootstrap-t")),
            Summary("ap", 0.1, 0.2, 3, Interval(None, None, 0.95, "none")),
            Summary("mrr", nan, nan, 0),
        )
        store.keep_scores(run, [Summary("hit@5", 1.0, 1.0, 1)])
        store.keep_scores(run, summaries)
        assert repr(store.scores(run)) == repr(summaries)
        store.finish(run, RunStatus.FAILED)
        assert store.claim(run)
        assert store.scores(run) == ()
        store.keep_scores(run, [])

    def test_outcomes(self, store: Store, run: str) -> None:
        """They are counted run by run."""
        experiment = run.partition(".")[0]
        assert store.outcomes(experiment) == {}
        store.add_many(StoredQueryResult(run, *pair) for pair in ANSWERS)
        store.add(f"{experiment}.2", *ANSWERS[1])
        assert store.outcomes(experiment) == {
            run: {Outcome.ANSWERED: 3, Outcome.TIMEOUT: 1, Outcome.ERROR: 1},
            f"{experiment}.2": {Outcome.TIMEOUT: 1},
        }

    def test_completed_runs(self, store: Store, run: str) -> None:
        """With their scores, in the order planned; unknown experiments have none."""
        summaries = (Summary("ndcg@10", 0.5, 0.5, 8), Summary("ap", 0.1, 0.2, 3))
        experiment = run.partition(".")[0]
        assert store.completed(experiment) == ()
        store.keep_scores(run, summaries)
        store.finish(run, RunStatus.COMPLETED)
        store.finish(f"{experiment}.2", RunStatus.COMPLETED)
        first, second = store.completed(experiment, "zzzz")
        assert (first.id, first.label, first.scores) == (run, "bm25", summaries)
        assert first.ended
        assert (second.id, second.scores) == (f"{experiment}.2", ())

    def test_scores_that_are_complete_outlast_the_timing(self, store: Store, run: str) -> None:
        """Latency is measured later; claimed for that, or cancelled meanwhile, a run has them."""
        summaries = (Summary("ndcg@10", 0.5, 0.5, 8),)
        experiment = run.partition(".")[0]
        assert store.claim(run)
        store.begin(run)
        assert store.show(experiment).runs[0].scored is None
        store.keep_scores(run, summaries, complete=True)
        stored = store.show(experiment).runs[0]
        assert (stored.status, stored.ended) == (RunStatus.EVALUATING, None)
        assert stored.scored
        (scored,) = store.completed(experiment)
        assert (scored.scores, scored.ended) == (summaries, stored.scored)
        store.finish(run, RunStatus.CANCELLED)
        assert store.claim(run)
        assert store.scores(run) == summaries
        store.finish(run, RunStatus.COMPLETED)
        assert store.show(experiment).runs[0].scored == stored.scored

    def test_past_runs(self, store: Store) -> None:
        """Those of one label that have ended, on a gold set of this digest or name."""
        ids = [self._ended(store, seed=seed) for seed in range(3)]
        part = replace(PLAN.dataset, name="part").with_queries(QUERIES[:2])
        other = self._ended(store, gold=part)
        store.experiment(replace(PLAN, seed=9))
        digest = store.show(ids[0]).dataset
        assert [each.experiment for each in store.past_runs("bm25", gold="gold")] == ids[::-1]
        assert [each.experiment for each in store.past_runs("bm25", dataset=digest)] == ids[::-1]
        assert [each.experiment for each in store.past_runs("bm25", gold="part")] == [other]
        assert store.past_runs("bm25")[0] == store.past_runs("bm25", limit=1)[0]
        assert len(store.past_runs("bm25")) == 4
        assert store.past_runs("dense") == store.past_runs("bm25", gold="none") == ()
        newest = store.past_runs("bm25", gold="gold")[0]
        run = store.show(ids[-1]).runs[0]
        assert (newest.id, newest.label, newest.ended) == (run.id, "bm25", run.ended)
        assert (newest.engine, newest.snapshot) == (run.engine.digest, run.snapshot)
        assert (newest.dataset, newest.version, newest.pinned) == (digest, "1.2.3", False)

    def test_one_run_of_a_label_is_pinned_on_a_gold_set(self, store: Store) -> None:
        """It is found beyond the limit; a run without scores cannot be pinned."""
        first, second, third = (f"{self._ended(store, seed=seed)}.1" for seed in range(3))
        store.pin(first)
        store.pin(second)
        assert [each.id for each in store.past_runs("bm25") if each.pinned] == [second]
        assert [each.id for each in store.past_runs("bm25", limit=1)] == [third, second]
        assert store.show(second.partition(".")[0]).runs[0].pinned
        store.pin(second, pinned=False)
        assert [each.id for each in store.past_runs("bm25", limit=1)] == [third]
        with pytest.raises(InputError, match="has not finished"):
            store.pin(third.replace(".1", ".2"))

    def _ended(self, store: Store, *, seed: int = 0, gold: Dataset | None = None) -> str:
        """Return an experiment whose first run has ended."""
        experiment = store.experiment(replace(PLAN, seed=seed, dataset=gold or PLAN.dataset))
        run = f"{experiment}.1"
        assert store.claim(run)
        store.keep_scores(run, [Summary("ap", 0.1, 0.2, 3)], complete=True)
        store.finish(run, RunStatus.COMPLETED)
        return experiment

    def test_a_run_that_begins_anew_has_no_scores(self, store: Store, run: str) -> None:
        """They were those of answers that are gone."""
        store.keep_scores(run, [Summary("ap", 0.1, 0.2, 3)], complete=True)
        store.clear(run)
        assert store.scores(run) == ()
        assert store.completed(run.partition(".")[0]) == ()

    def test_newest_first(self, store: Store) -> None:
        """Page by page, all or of one kind."""
        with pytest.raises(UnknownName, match="holds no experiment yet"):
            store.latest()
        kinds = [
            ExperimentKind.SWEEP,
            ExperimentKind.EVALUATE,
            ExperimentKind.SWEEP,
            ExperimentKind.COMPARE,
        ]
        ids = [
            store.experiment(replace(PLAN, name=str(number), kind=kind))
            for number, kind in enumerate(kinds)
        ]
        newest = ids[::-1]
        assert [experiment.id for experiment in store.experiments()] == newest
        assert [experiment.id for experiment in store.experiments(limit=2, offset=1)] == newest[1:3]
        sweeps = store.experiments(ExperimentKind.SWEEP)
        assert [experiment.id for experiment in sweeps] == [ids[2], ids[0]]
        assert store.experiments(offset=9) == ()
        assert store.latest() == store.show(newest[0])

    def test_ids_may_be_shortened(self, store: Store) -> None:
        """As long as one experiment is meant; of a run, the part before the point."""
        # Of 33 ids, at least two begin with the same of 32 letters.
        ids = [store.experiment(replace(PLAN, seed=seed)) for seed in range(33)]
        letters = [name[0] for name in ids]
        several = next(letter for letter in letters if letters.count(letter) > 1)
        with pytest.raises(UnknownName, match=f"several experiments begin with '{several}': "):
            store.show(several)
        assert store.show(ids[5][:-1]).id == ids[5]
        assert store.show(ids[5].upper()).id == ids[5]
        assert store.measured(f"{ids[5][:-1]}.2").name == "dense"

    @pytest.mark.parametrize("name", ["", "0", "%", "_", "'", "1.1", ".1", "zzzzzzzzzzz"])
    def test_unknown_ids(self, store: Store, name: str) -> None:
        """Every method raises UnknownName for them."""
        store.experiment(PLAN)
        asked: list[Callable[[str], object]] = [
            store.show,
            store.delete,
            store.dataset,
            store.measured,
            store.scores,
            store.claim,
            store.begin,
            store.answered,
            store.release,
            store.holders,
            store.outcomes,
            lambda name: store.add(name, Answer("q1")),
            lambda name: store.add_many([StoredQueryResult(name, *ANSWERS[0])]),
            lambda name: store.finish(name, RunStatus.COMPLETED),
            lambda name: store.keep_scores(name, []),
        ]
        for ask in asked:
            with pytest.raises(UnknownName):
                ask(name)

    def test_positions_that_are_none(self, store: Store) -> None:
        """A run is named by its position from 1."""
        experiment = store.experiment(PLAN)
        for run in (experiment, f"{experiment}.", f"{experiment}.0", f"{experiment}.3"):
            with pytest.raises(UnknownName, match="an experiment id, a dot and a number"):
                store.measured(run)

    def test_delete(self, store: Store, run: str) -> None:
        """All of one experiment goes, nothing of another; a gold set goes with its last user."""
        other = store.experiment(replace(PLAN, seed=8))
        digest = store.show(other).dataset
        for run_id in (run, f"{other}.1"):
            store.add_many(StoredQueryResult(run_id, *answer) for answer in ANSWERS)
        store.finish(run, RunStatus.COMPLETED)
        store.keep_scores(run, [Summary("ap", 1.0, 1.0, 1)])
        experiment = run.partition(".")[0]
        store.delete(experiment)
        assert [experiment.id for experiment in store.experiments()] == [other]
        assert len(store.measured(f"{other}.1").run) == len(ANSWERS)
        assert len(store.dataset(digest)) == len(QUERIES)
        # The same plan starts again.
        assert store.experiment(PLAN) == experiment
        assert store.show(experiment).runs[0].answers == 0
        assert store.scores(run) == ()
        store.delete(experiment)
        store.delete(other)
        with pytest.raises(UnknownName, match="holds no gold set with the digest"):
            store.dataset(digest)

    def test_what_runs_is_not_deleted(
        self, store: Store, open_store: OpenStore, pass_time: PassTime
    ) -> None:
        """Unless its worker is dead, or deletion is forced."""
        experiment = store.experiment(PLAN)
        workers = [open_store(name) for name in (ELSEWHERE, "slow")]
        assert workers[0].claim(f"{experiment}.1")
        held = rf"{experiment} is being run by another process \(host another-machine, process 1\)"
        with pytest.raises(InputError, match=held):
            store.delete(experiment)
        assert store.show(experiment).runs[0].status == RunStatus.INDEXING
        store.delete(experiment, force=True)
        with pytest.raises(UnknownName, match="no run"):
            workers[0].add(f"{experiment}.1", *ANSWERS[0])
        store.experiment(PLAN)
        assert workers[1].claim(f"{experiment}.1")
        outlive(store, experiment, pass_time)
        store.delete(experiment)
        assert store.experiments() == ()
        for worker in workers:
            worker.close()

    def test_release(self, store: Store, open_store: OpenStore) -> None:
        """Workers lose their claimed runs; ended runs stay."""
        experiment = store.experiment(PLAN)
        first, second = (run.id for run in store.show(experiment).runs)
        elsewhere = open_store(ELSEWHERE)
        assert elsewhere.claim(first)
        assert elsewhere.claim(second)
        elsewhere.finish(second, RunStatus.COMPLETED)
        assert not store.claim(first)
        store.release(experiment)
        assert [run.status for run in store.show(experiment).runs] == ["pending", "completed"]
        assert store.claim(first)
        elsewhere.close()

    def test_vacuum(self, store: Store, run: str) -> None:
        """Nothing that was kept is lost."""
        store.add_many(StoredQueryResult(run, *pair) for pair in ANSWERS)
        store.delete(store.experiment(replace(PLAN, seed=8)))
        store.vacuum()
        assert len(store.measured(run).run) == len(ANSWERS)

    def test_plans_that_are_none(self, store: Store) -> None:
        """Nothing of them is kept."""
        wrong = [
            (replace(PLAN, runs=()), "plan 'nightly' has no run"),
            (replace(PLAN, config={"rate": nan}), "plan 'nightly' cannot be stored"),
            (replace(PLAN, config={"rate": object()}), "plan 'nightly' cannot be stored"),
            (replace(PLAN, dataset=Dataset.of([Query("a\0", "x")])), "which cannot be stored"),
            (replace(PLAN, dataset=Dataset.of([Query("\ud800", "x")])), "which cannot be stored"),
            (replace(PLAN, dataset=Dataset.of([Query("a", "")])), "queries without text"),
        ]
        for plan, message in wrong:
            with pytest.raises(InputError, match=message):
                store.experiment(plan)
        assert store.experiments() == ()

    def test_a_closed_store(self, store: Store, run: str) -> None:
        """Leaving its context closes it; it may be closed again, and says so when it is used."""
        with store as opened:
            assert opened is store
        store.close()
        with pytest.raises(KaratError, match="closed"):
            store.answered(run)

    def test_costs_are_those_of_the_run(self, store: Store, run: str) -> None:
        """Timings and notes without answers: as they come with the whole run."""
        store.claim(run)
        store.add_many(StoredQueryResult(run, *each) for each in ANSWERS)
        assert store.costs(run) == (None, {})
        costs = Timings((), 5, 6, 7, 1, 3, alone=True)
        store.finish(run, RunStatus.COMPLETED, timings=costs, notes={"seed": 7})
        whole = store.measured(run)
        assert whole.timings
        assert store.costs(run) == (whole.timings, {"seed": 7})
