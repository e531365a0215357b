"""A run is compared with the last one of its engine, and with a pinned one, on common queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from karat.app.changes import ScoredStoredRun, run_changes
from karat.app.evaluate import score_runs
from karat.experiments.store import (
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    RunStatus,
    SqlStore,
    StoredQueryResult,
)
from karat.model import Answer, Dataset, Hit, Query, Target
from karat.model.change import Earlier, RunChange
from karat.model.spec import Spec
from karat.report.change_view import change_lines
from karat.scoring.settings import Confidence, Scoring

GOLD = Dataset.of(
    [Query(f"q{number}", f"text {number}", (Target("a.py"),)) for number in range(12)],
    name="gold",
    match="exact",
)
SCORING = Scoring(("hit@1",))
SURE = Confidence(draws=999)
MINUTE = timedelta(minutes=1)


class History:
    """Runs of engines, one after another, on gold sets."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.count = 0

    def run(
        self,
        found: Sequence[bool],
        *,
        gold: Dataset = GOLD,
        name: str = "mysearch",
        snapshot: str = "",
        options: Mapping[str, object] | None = None,
        content: Mapping[str, str] | None = None,
    ) -> tuple[RunChange, ...]:
        """Store a run with the target first on the queries *found*; return its changes."""
        self.count += 1
        spec = Spec("engine", "command", dict(options or {}))
        plan = ExperimentDefinition(
            *("gold", ExperimentKind.EVALUATE, gold),
            (RunDefinition(name, spec, snapshot),),
            seed=self.count,
            version="1.0",
        )
        experiment = self.store.experiment(plan)
        run = f"{experiment}.1"
        assert self.store.claim(run)
        self.store.clear(run, content=content)
        self.store.add_many(
            StoredQueryResult(run, Answer(query, (Hit("a.py" if hit else "b.py"),)))
            for query, hit in zip(gold.query_ids, found, strict=True)
        )
        self.store.keep_scores(run, [], complete=True)
        self.store.finish(run, RunStatus.COMPLETED)
        return self.changes(experiment, gold)

    def changes(self, experiment: str, gold: Dataset = GOLD) -> tuple[RunChange, ...]:
        """Return the changes of a stored run."""
        stored = self.store.show(experiment)
        measured = self.store.measured(stored.runs[0].id)
        (evaluation,) = score_runs(gold, [measured], SCORING)
        runs = [ScoredStoredRun(stored.runs[0], measured, evaluation)]
        return run_changes(self.store, stored, gold, runs, scoring=SCORING, confidence=SURE)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with SqlStore(tmp_path / "karat.db") as store:
        yield History(store)


def lines(changes: Sequence[RunChange]) -> list[str]:
    """Return what is printed five minutes after the earlier run, without its id."""
    texts = list(change_lines(changes, now=changes[0].ended + 5 * MINUTE))
    for each in changes:
        texts = [text.replace(each.earlier, "ID") for text in texts]
    return texts


def test_the_first_run_has_no_change(history: History) -> None:
    assert history.run([True] * 12) == ()


def test_won_and_lost_queries_are_counted(history: History) -> None:
    history.run([True] * 2 + [False] * 10)
    (change,) = history.run([False] * 1 + [True] * 11)
    entry = change.difference
    assert (change.run, change.against) == ("mysearch", Earlier.PREVIOUS)
    # 10 won, 1 lost: 2 * P(at most 1 of 11 fair flips) = 2 * 12 / 2048.
    assert (entry.baseline_mean, entry.system_mean) == (2 / 12, 11 / 12)
    assert (entry.wins, entry.losses, entry.ties) == (10, 1, 1)
    assert entry.p == pytest.approx(24 / 2048)
    assert lines([change])[0].startswith("mysearch is better than its previous run: hit@1 +0.750 [")
    assert lines([change])[0].endswith("; 10 queries won, 1 lost (ID, 5 min ago).")


def test_a_small_change_is_not_called_better(history: History) -> None:
    history.run([True] * 4 + [False] * 8)
    (change,) = history.run([True] * 5 + [False] * 7)
    assert not change.difference.is_significant
    assert lines([change])[0].startswith(
        "No significant difference between mysearch and its previous run on hit@1 (+0.083"
    )


def test_the_same_hits_are_unchanged(history: History) -> None:
    history.run([True] * 12)
    (change,) = history.run([True] * 12)
    assert change.unchanged
    assert lines([change]) == [
        "mysearch and its previous run have the same hit@1 on every query (ID, 5 min ago)."
    ]
    other = replace(change, run="bm25")
    assert lines([change, other]) == [
        "mysearch and bm25 have the same hit@1 on every query as their previous runs."
    ]


def test_only_the_same_engine_counts_and_only_what_came_before(history: History) -> None:
    history.run([True] * 12, name="other")
    assert history.run([False] * 6 + [True] * 6) == ()
    first = history.store.past_runs("mysearch")[0].experiment
    assert history.run([True] * 12)
    # Shown again later, the first run still has nothing before it.
    assert history.changes(first) == ()


def test_a_sample_is_compared_on_its_queries(history: History) -> None:
    sample = GOLD.with_queries(list(GOLD.queries())[:4])
    history.run([False, False, True, True], gold=sample)
    (change,) = history.run([True] * 12)
    assert (change.difference.n, change.queries) == (4, 12)
    assert (change.difference.wins, change.difference.ties) == (2, 2)
    assert ", compared on 4 of 12 queries (" in lines([change])[0]


def test_a_query_with_another_text_is_another_query(history: History) -> None:
    other = [query._replace(text="other") for query in GOLD.queries()]
    history.run([False] * 12, gold=GOLD.with_queries(other))
    assert history.run([True] * 12) == ()


def test_new_judgments_count_for_both_runs(history: History) -> None:
    history.run([False] * 6 + [True] * 6)
    more = [query._replace(targets=(*query.targets, Target("b.py"))) for query in GOLD.queries()]
    (change,) = history.run([True] * 12, gold=GOLD.with_queries(more))
    assert change.unchanged
    assert change.difference.baseline_mean == 1.0


def test_a_pinned_run_is_compared_too(history: History) -> None:
    history.run([False] * 12)
    history.run([True] * 6 + [False] * 6)
    pinned = history.store.past_runs("mysearch")[0].id
    history.store.pin(pinned)
    (only,) = history.run([True] * 7 + [False] * 5)
    assert (only.against, only.earlier) == (Earlier.PREVIOUS, pinned)
    previous, against_pinned = history.run([True] * 8 + [False] * 4)
    assert previous.difference.wins == 1
    assert (against_pinned.against, against_pinned.earlier) == (Earlier.PINNED, pinned)
    assert against_pinned.difference.wins == 2
    assert "between mysearch and the pinned run" in lines([against_pinned])[0]


def test_a_broken_run_is_skipped(history: History) -> None:
    history.run([True] * 6 + [False] * 6)
    experiment = history.store.experiment(
        ExperimentDefinition(
            *("gold", ExperimentKind.EVALUATE, GOLD),
            (RunDefinition("mysearch", Spec("engine", "command", {})),),
            seed=99,
        )
    )
    history.store.claim(f"{experiment}.1")
    history.store.add_many(
        StoredQueryResult(f"{experiment}.1", Answer(query)) for query in GOLD.query_ids
    )
    history.store.keep_scores(f"{experiment}.1", [], complete=True)
    history.store.finish(f"{experiment}.1", RunStatus.COMPLETED)
    assert history.changes(experiment) == ()
    (change,) = history.run([True] * 7 + [False] * 5)
    assert change.difference.wins == 1


def test_what_else_has_changed_is_named(history: History) -> None:
    history.run([True] * 12, content={"/x/search.py": "ab", "/x/other.py": "cd"}, snapshot="s1")
    (change,) = history.run(
        [True] * 12,
        content={"/x/search.py": "ef", "/x/other.py": "cd"},
        snapshot="s2",
        options={"chunk": 256},
    )
    assert change.altered == ("search.py", "options", "documents")
    assert lines([change])[0].endswith("(ID, 5 min ago; changed: search.py, options, documents).")
