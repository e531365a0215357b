"""The contract of stores, as tests that any store inherits.

    class TestMyStore(StoreSuite):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda worker: MyStore(tmp_path, worker=worker)

The fixture returns a function that opens the same store, empty at first, each time it is called. A
worker is named as by ``karat.experiments.store.environment.this_worker``; None is this process.
"""

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101

from collections.abc import Callable
from dataclasses import replace
from math import nan

import pytest

from karat.errors import InputError, KaratError, UnknownName
from karat.experiments.store import ExperimentKind, RunStatus, Store, StoredQueryResult
from karat.model import Answer, Dataset, Outcome, Query
from karat.model.comparison import Interval
from karat.model.evaluation import Summary
from karat.model.timings import Timings
from karat.testing.recorder import (
    ANSWERS,
    ELSEWHERE,
    PLAN,
    QUERIES,
    OpenStore,
    RecorderSuite,
    dead_worker,
)

__all__ = ["StoreSuite"]


class StoreSuite(RecorderSuite):
    """What holds for every store; a subclass provides the fixture ``open_store``."""

    def test_an_experiment_comes_back(self, store: Store) -> None:
        """All that the plan says, and where it runs."""
        found = store.show(store.experiment(PLAN))
        assert (found.name, found.kind, found.seed) == ("nightly", ExperimentKind.COMPARE, 7)
        assert (found.config, found.version) == (PLAN.config, "1.2.3")
        assert found.queries == len(QUERIES)
        assert {"python", "platform", "cpu", "cores", "packages"} <= found.environment.keys()
        assert found.status == "pending"
        for position, (run, planned) in enumerate(zip(found.runs, PLAN.runs, strict=True), 1):
            assert run.id == f"{found.id}.{position}"
            assert (run.label, run.engine) == (planned.label, planned.engine)
            assert (run.snapshot, run.metadata) == (planned.snapshot, planned.metadata)
            assert (run.status, run.error, run.answers) == (RunStatus.PENDING, "", 0)
            assert (run.begun, run.ended) == (None, None)

    def test_a_gold_set_comes_back(self, store: Store) -> None:
        """Queries, targets, tags and metadata, in their order."""
        found = store.dataset(store.show(store.experiment(PLAN)).dataset)
        assert list(found.queries()) == QUERIES
        assert (found.name, found.match) == ("gold", "lines")
        assert found.metadata == {"repository": "r"}

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
        store.add_many(StoredQueryResult(run, *kept) for kept in ANSWERS)
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
        found = store.show(experiment).runs[0]
        assert (found.status, found.ended) == (RunStatus.EVALUATING, None)
        assert found.scored
        (scored,) = store.completed(experiment)
        assert (scored.scores, scored.ended) == (summaries, found.scored)
        store.finish(run, RunStatus.CANCELLED)
        assert store.claim(run)
        assert store.scores(run) == summaries
        store.finish(run, RunStatus.COMPLETED)
        assert store.show(experiment).runs[0].scored == found.scored

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
        assert [found.id for found in store.experiments()] == newest
        assert [found.id for found in store.experiments(limit=2, offset=1)] == newest[1:3]
        assert [found.id for found in store.experiments(ExperimentKind.SWEEP)] == [ids[2], ids[0]]
        assert store.experiments(offset=9) == ()
        assert store.latest() == store.show(newest[0])

    def test_ids_may_be_shortened(self, store: Store) -> None:
        """As long as one experiment is meant; of a run, the part before the point."""
        # Of 33 ids two begin with the same of 32 letters.
        ids = [store.experiment(replace(PLAN, seed=seed)) for seed in range(33)]
        letters = [name[0] for name in ids]
        several = next(letter for letter in letters if letters.count(letter) > 1)
        with pytest.raises(UnknownName, match=f"'{several}' begins several experiments: "):
            store.show(several)
        assert store.show(ids[5][:-1]).id == ids[5]
        assert store.show(ids[5].upper()).id == ids[5]
        assert store.measured(f"{ids[5][:-1]}.2").name == "dense"

    @pytest.mark.parametrize("name", ["", "0", "%", "_", "'", "1.1", ".1", "zzzzzzzzzzz"])
    def test_unknown_ids(self, store: Store, name: str) -> None:
        """They are refused, whatever is asked."""
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
            with pytest.raises(UnknownName, match="an experiment, a point and a number"):
                store.measured(run)

    def test_delete(self, store: Store, run: str) -> None:
        """All of one experiment goes, nothing of another; a gold set goes with its last user."""
        other = store.experiment(replace(PLAN, seed=8))
        digest = store.show(other).dataset
        for kept in (run, f"{other}.1"):
            store.add_many(StoredQueryResult(kept, *answer) for answer in ANSWERS)
        store.finish(run, RunStatus.COMPLETED)
        store.keep_scores(run, [Summary("ap", 1.0, 1.0, 1)])
        experiment = run.partition(".")[0]
        store.delete(experiment)
        assert [found.id for found in store.experiments()] == [other]
        assert len(store.measured(f"{other}.1").run) == len(ANSWERS)
        assert len(store.dataset(digest)) == len(QUERIES)
        # The same plan begins anew.
        assert store.experiment(PLAN) == experiment
        assert store.show(experiment).runs[0].answers == 0
        assert store.scores(run) == ()
        store.delete(experiment)
        store.delete(other)
        with pytest.raises(UnknownName, match="holds no gold set with the digest"):
            store.dataset(digest)

    def test_what_runs_is_not_deleted(self, store: Store, open_store: OpenStore) -> None:
        """Unless its worker is dead, or deletion is forced."""
        experiment = store.experiment(PLAN)
        workers = [open_store(name) for name in (ELSEWHERE, dead_worker())]
        assert workers[0].claim(f"{experiment}.1")
        with pytest.raises(InputError, match=f"run {experiment}.1 is being worked on by another-"):
            store.delete(experiment)
        assert store.show(experiment).runs[0].status == RunStatus.INDEXING
        store.delete(experiment, force=True)
        with pytest.raises(UnknownName, match="no run"):
            workers[0].add(f"{experiment}.1", *ANSWERS[0])
        store.experiment(PLAN)
        assert workers[1].claim(f"{experiment}.1")
        store.delete(experiment)
        assert store.experiments() == ()
        for worker in workers:
            worker.close()

    def test_release(self, store: Store, open_store: OpenStore) -> None:
        """Whoever has the runs loses them; those that have ended stay."""
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
        store.add_many(StoredQueryResult(run, *kept) for kept in ANSWERS)
        store.delete(store.experiment(replace(PLAN, seed=8)))
        store.vacuum()
        assert len(store.measured(run).run) == len(ANSWERS)

    def test_plans_that_are_none(self, store: Store) -> None:
        """Nothing of them is kept."""
        wrong = [
            (replace(PLAN, runs=()), "plan 'nightly' has no run"),
            (replace(PLAN, config={"rate": nan}), "plan 'nightly' cannot be stored"),
            (replace(PLAN, config={"rate": object()}), "plan 'nightly' cannot be stored"),
            (replace(PLAN, dataset=Dataset.of([Query("a\0", "x")])), "no store can keep"),
            (replace(PLAN, dataset=Dataset.of([Query("\ud800", "x")])), "no store can keep"),
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
