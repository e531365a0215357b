"""What is asked of an executor, in which order, and what is kept of its answers."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.execute import EndedRun, ExperimentContext, execute
from karat.experiments.executors import CompleteGroup, Executor, QualityPass
from karat.experiments.plan import (
    ExperimentPlan,
    ExperimentRequest,
    JudgedUnits,
    choose_timed,
    group_searches,
)
from karat.experiments.store import ExperimentDefinition, ExperimentKind, RunDefinition, SqlStore
from karat.experiments.target_check import Where
from karat.experiments.workers import (
    Callbacks,
    Configuration,
    RunEvent,
    RunSettings,
    SnapshotQueries,
    Source,
)
from karat.experiments.workers.announcements import running_folder
from karat.experiments.workers.run_collector import QueryResult, RunCollector, UsageCounters
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run
from karat.model.spec import Spec
from karat.model.timings import LatencySample, RunResult, Timings

GOLD = Dataset.of([Query(f"q{row}", "text") for row in range(4)])
WORDS, KEYWORD = Spec("engine", "bm25"), Spec("engine", "keyword")
ENTRIES = (
    Configuration("deep", WORDS, 3),
    Configuration("flat", WORDS, 1),
    Configuration("strict", WORDS, 3, threshold=0.5),
    Configuration("alone", KEYWORD, 2),
)
HITS = tuple(Hit(path, score) for path, score in (("a", 4), ("b", 2), ("c", 1)))
SAMPLE = LatencySample("", 5, (4,))
COSTS = Timings((), 7, 8, 9, warm_up=1, repetitions=2, alone=True)


@dataclass
class Scripted(Executor):
    """An executor whose engines all find a, b and c; it remembers what it was asked."""

    fails: str = ""
    stops: str = ""
    corpus: str = "planned"
    calls: list[tuple[str, dict[str, set[str]]]] = field(default_factory=list)
    depths: dict[str, int] = field(default_factory=dict)
    stopped: bool = False

    def collect(self, hits: QualityPass) -> Iterator[CompleteGroup]:
        assert (hits.settings.warm_up, hits.settings.repetitions) == (0, 1)
        for group in list(hits.left):
            self._run(hits, hits.collectors[group])
            if self.stopped:
                return
            yield hits.complete(group)

    def _run(self, hits: QualityPass, collectors: Sequence[RunCollector]) -> None:
        configurations = [one.configuration for one in collectors]
        wanted = {
            one.configuration.name: {
                query_id for row, query_id in enumerate(hits.dataset.query_ids) if one.wants(row)
            }
            for one in collectors
        }
        self._note("quality", configurations, wanted)
        for one in collectors:
            name = one.configuration.name
            one.report("indexed", {"corpus": self.corpus})
            self.stopped = self.stopped or name == self.stops
            for query_id in sorted(wanted[name]) if name not in {self.fails, self.stops} else ():
                one.add(QueryResult(Answer(query_id, HITS[: one.configuration.k])))
            one.use(
                "session", UsageCounters("no" if name == self.fails else "", work={"quality": 1})
            )

    def timing(
        self,
        configurations: Sequence[Configuration],
        dataset: Dataset,
        snapshots: Sequence[SnapshotQueries],
        *,
        settings: RunSettings,
        callbacks: Callbacks,
    ) -> list[RunResult]:
        """Stand for the measurement of latency."""
        assert snapshots
        assert (settings.warm_up, settings.repetitions) == (3, 3)
        wanted = {
            one.name: set(dataset.query_ids) - set(callbacks.skip[one.name])
            for one in configurations
        }
        self._note("timing", configurations, wanted)
        return [self._timed(one, sorted(wanted[one.name]), callbacks) for one in configurations]

    def _timed(self, one: Configuration, queries: Sequence[str], callbacks: Callbacks) -> RunResult:
        callbacks.listen(RunEvent("indexed", one.name, detail={"corpus": self.corpus}))
        for query_id in queries:
            sample = SAMPLE._replace(query_id=query_id)
            callbacks.on_result(one.name, Answer(query_id, HITS[: one.k]), sample)
        notes = {"status": "completed", "timing": True, "work": {"timing": 1}}
        return RunResult(Run.of([]), COSTS, "", one.name, notes)

    def _note(
        self, what: str, configurations: Sequence[Configuration], wanted: dict[str, set[str]]
    ) -> None:
        self.calls.append((what, wanted))
        self.depths |= {f"{what} {one.name}": one.k for one in configurations}


@pytest.fixture
def store(tmp_path: Path) -> SqlStore:
    return SqlStore(tmp_path / "karat.db")


def task(
    store: SqlStore, *, timed: frozenset[str] = frozenset(), scores_first: bool = False
) -> ExperimentContext:
    runs = tuple(RunDefinition(configuration.name, configuration.spec) for configuration in ENTRIES)
    found = store.show(
        store.experiment(ExperimentDefinition("sweep", ExperimentKind.SWEEP, GOLD, runs))
    )
    for run in found.runs:
        assert store.claim(run.id)
    request = ExperimentRequest(
        gold=GOLD,
        configurations=ENTRIES,
        where=Where(),
        kind=ExperimentKind.SWEEP,
        wait=False,
        scores_first=scores_first,
    )
    units = JudgedUnits(files=False, parts=frozenset(), most="lines")
    return ExperimentContext(
        request=request,
        plan=ExperimentPlan(group_searches(ENTRIES, files=False), units, len(GOLD), timed),
        snapshots=(SnapshotQueries(Source.of_texts({}), (0, 1, 2, 3)),),
        digests=("planned",),
        runs={run.label: run.id for run in found.runs},
    )


def run(
    store: SqlStore,
    given: ExperimentContext,
    executor: Scripted,
    entries: Sequence[Configuration] = ENTRIES,
) -> list[EndedRun]:
    given = replace(given, cancelled=lambda: executor.stopped)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.experiments.execute.measure_latency", executor.timing)
        return list(execute(group_searches(entries, files=False), given, store, executor))


ALL = set(GOLD.query_ids)


@dataclass
class Watching(Scripted):
    """Notes the numbers of the announcements at each call."""

    announced: list[tuple[str, str, int]] = field(default_factory=list)

    def _note(
        self, what: str, configurations: Sequence[Configuration], wanted: dict[str, set[str]]
    ) -> None:
        said = [json.loads(path.read_text()) for path in running_folder().glob("*.json")]
        self.announced += [(what, one["command"], one["number"]) for one in said]
        super()._note(what, configurations, wanted)


def test_one_announcement_over_all_groups(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    executor = Watching()
    given = task(store, timed=frozenset({"q1"}))
    run(store, given, executor)
    # None is left when times are measured, or two processes would wait for each other.
    assert set(executor.announced) == {("quality", "sweep", 1), ("quality", "sweep", 2)}


def test_every_entry_gets_its_part_of_one_search(store: SqlStore) -> None:
    executor, given = Scripted(), task(store)
    ended = run(store, given, executor)
    assert executor.calls == [("quality", {"deep": ALL}), ("quality", {"alone": ALL})]
    assert executor.depths == {"quality deep": 3, "quality alone": 2}
    paths = {
        name: ["".join(hit.path for hit in a.hits) for a in store.measured(run_id).run.answers()]
        for name, run_id in given.runs.items()
    }
    assert paths == {
        "deep": ["abc"] * 4,
        "flat": ["a"] * 4,
        "strict": ["ab"] * 4,
        "alone": ["ab"] * 4,
    }
    assert [one.configuration.name for one in ended] == ["deep", "flat", "strict", "alone"]
    assert all(one.timings is None for one in ended)


def test_each_is_timed_for_itself_and_what_is_alone_is_asked_once(store: SqlStore) -> None:
    executor, given = Scripted(), task(store, timed=frozenset({"q1", "q2"}))
    ended = run(store, given, executor)
    some = {"q1", "q2"}
    assert executor.calls == [
        ("quality", {"deep": ALL}),
        ("quality", {"alone": ALL - some}),
        ("timing", {"deep": some, "flat": some, "strict": some, "alone": some}),
    ]
    assert executor.depths["timing flat"] == 1
    for run_id in given.runs.values():
        assert store.answered(run_id) == ALL
        assert store.answered(run_id, timed=True) == some
    assert all(one.timings == COSTS and not one.stopped for one in ended)
    notes = ended[0].notes
    assert (notes["status"], notes["timing"]) == ("completed", True)
    assert (notes["work"], notes["timed_work"]) == ({"quality": 1}, {"timing": 1})
    assert ended[-1].notes["work"] == {"quality": 1}


def test_only_what_is_missing_is_asked(store: SqlStore) -> None:
    given = task(store, timed=frozenset({"q1", "q2"}))
    for name in ("deep", "flat", "strict"):
        store.add(given.runs[name], Answer("q0"))
    store.add(given.runs["deep"], Answer("q1"))
    store.add(given.runs["alone"], Answer("q3"))
    sample = SAMPLE._replace(query_id="q1")
    store.add(given.runs["flat"], Answer("q1"), sample)
    executor = Scripted()
    run(store, given, executor)
    assert executor.calls == [
        ("quality", {"deep": {"q1", "q2", "q3"}}),
        ("quality", {"alone": {"q0"}}),
        (
            "timing",
            {"deep": {"q1", "q2"}, "flat": {"q2"}, "strict": {"q1", "q2"}, "alone": {"q1", "q2"}},
        ),
    ]
    # What was there stays.
    assert store.measured(given.runs["deep"]).run.answer(0).hits == ()


def test_one_is_asked_again_where_only_the_costs_of_the_index_are_missing(store: SqlStore) -> None:
    given = task(store, timed=frozenset({"q1", "q2"}))
    run(store, given, Scripted())
    executor = Scripted()
    run(store, given, executor)
    one = {"q1"}
    assert executor.calls == [("timing", {"deep": one, "flat": one, "strict": one, "alone": one})]


def test_what_was_shared_is_timed_by_whoever_is_left(store: SqlStore) -> None:
    given = task(store, timed=frozenset({"q1", "q2"}))
    for query_id in sorted(ALL):
        store.add(given.runs["deep"], Answer(query_id))
    executor = Scripted()
    run(store, given, executor, ENTRIES[:1])
    assert executor.calls == [("timing", {"deep": {"q1", "q2"}})]


def test_what_has_failed_is_not_timed(store: SqlStore) -> None:
    given = task(store, timed=frozenset({"q1", "q2"}))
    for run_id in given.runs.values():
        store.add(run_id, Answer("q1", outcome=Outcome.TIMEOUT))
    executor = Scripted()
    run(store, given, executor)
    assert executor.calls[-1] == ("timing", {name: {"q2"} for name in given.runs})


def test_what_was_given_up_is_not_timed(store: SqlStore) -> None:
    executor, given = Scripted(fails="deep"), task(store, timed=frozenset({"q1"}))
    ended = run(store, given, executor)
    assert executor.calls[-1] == ("timing", {"alone": {"q1"}})
    assert [one.notes.get("error") for one in ended] == ["no", "no", "no", None]
    assert [one.timings is None for one in ended] == [True, True, True, False]


def test_nothing_is_asked_after_the_stop(store: SqlStore) -> None:
    executor, given = Scripted(stops="deep"), task(store, timed=frozenset({"q1"}))
    ended = run(store, given, executor)
    assert [what for what, _ in executor.calls] == ["quality"]
    assert [one.configuration.name for one in ended] == [
        configuration.name for configuration in ENTRIES
    ]
    assert all(one.timings is None and one.stopped for one in ended)


def test_nothing_is_kept_of_another_corpus(store: SqlStore) -> None:
    given = task(store)
    with pytest.raises(InputError, match="the documents changed during the run"):
        run(store, given, Scripted(corpus="changed"))
    assert not any(store.answered(run_id) for run_id in given.runs.values())


def test_events_are_told_of_every_configuration(store: SqlStore) -> None:
    events: list[RunEvent] = []
    run(store, replace(task(store), listen=events.append), Scripted())
    told = [event.run for event in events if event.kind == "indexed"]
    assert told == ["deep", "flat", "strict", "alone"]
    assert {each.status for each in store.latest().runs} == {"evaluating"}


def test_scores_first_means_that_all_hits_come_before_the_times(store: SqlStore) -> None:
    executor, given = Scripted(), task(store, timed=frozenset({"q1"}), scores_first=True)
    before: list[list[str]] = []
    given = replace(
        given, before_timing=lambda: before.append([what for what, _ in executor.calls])
    )
    ended = run(store, given, executor)
    assert executor.calls[:2] == [("quality", {"deep": ALL}), ("quality", {"alone": ALL})]
    assert executor.calls[2:] == [
        ("timing", {configuration.name: {"q1"} for configuration in ENTRIES})
    ]
    assert before == [["quality", "quality"]]
    names = [configuration.name for configuration in ENTRIES]
    assert [(one.configuration.name, one.untimed) for one in ended] == [
        *((name, True) for name in names),
        *((name, False) for name in names),
    ]
    assert all((one.timings is None) is one.untimed for one in ended)


def test_scores_first_tells_at_once_what_has_failed(store: SqlStore) -> None:
    given = task(store, timed=frozenset({"q1"}), scores_first=True)
    ended = run(store, given, Scripted(fails="deep"))
    told = [(one.configuration.name, one.untimed) for one in ended]
    failed = [("deep", False), ("flat", False), ("strict", False)]
    assert told == [*failed, ("alone", True), ("alone", False)]


def test_scores_first_waits_for_no_scores_after_the_stop(store: SqlStore) -> None:
    given = task(store, timed=frozenset({"q1"}), scores_first=True)
    before: list[str] = []
    given = replace(given, before_timing=lambda: before.append("called"))
    ended = run(store, given, Scripted(stops="alone"))
    assert [(one.configuration.name, one.untimed, one.stopped) for one in ended] == [
        *((name, True, False) for name in ("deep", "flat", "strict")),
        *((configuration.name, False, True) for configuration in ENTRIES),
    ]
    assert before == []


def test_queries_that_are_timed() -> None:
    assert choose_timed(GOLD, None, seed=0) == ALL
    assert choose_timed(GOLD, 9, seed=0) == ALL
    assert choose_timed(GOLD, 0, seed=0) == frozenset()
    drawn = {choose_timed(GOLD, 2, seed=seed) for seed in range(20)}
    assert len(drawn) > 1
    assert {len(some) for some in drawn} == {2}
    assert choose_timed(GOLD, 2, seed=3) == choose_timed(GOLD, 2, seed=3)
