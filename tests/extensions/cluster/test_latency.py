"""Latency on one slot: what reaches the caller, and what ends it early."""

import platform
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from karat.errors import InputError, ProcessError
from karat.experiments.executors import LocalExecutor
from karat.experiments.workers import (
    Callbacks,
    RunEvent,
    RunSettings,
    SnapshotQueries,
    Source,
    all_queries_on,
    announce,
    measure_latency,
)
from karat.experiments.workers.run_collector import QueryResult, UsageCounters
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.fingerprint import fingerprint
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.threads import ThreadExecutor
from karat.extensions.cluster.unit import (
    AssetNeeded,
    QueryEnded,
    SlotEvent,
    SlotRejected,
    TimedMachine,
    Unit,
    UnitEnded,
    UnitLost,
)
from karat.model import Answer, Dataset, Outcome
from karat.model.timings import RunResult
from tests.experiments.workers.conftest import Kept, gold, toy

Visits = Callable[[Dataset], tuple[SnapshotQueries, ...]]
ONCE = RunSettings(warm_up=0, repetitions=1)


class FakeCluster(SlotExecutor):
    """An executor whose slot sends *events* for its unit, and ends after *looks* at it."""

    def __init__(self, *events: SlotEvent, slot: Slot | None = None, looks: int = 1) -> None:
        self.events = deque(events)
        self.slot = slot or Slot("s1", "node7")
        self.looks = looks
        self.units: list[Unit] = []
        self.provided: list[tuple[str, str]] = []

    @contextmanager
    def connect(self) -> Iterator["FakeCluster"]:
        yield self

    def slots(self) -> Sequence[Slot]:
        self.looks -= 1
        return [self.slot] if self.looks >= 0 else []

    def send(self, slot: str, unit: Unit) -> None:
        assert slot == self.slot.id
        self.units.append(unit)

    def receive(self, timeout_s: float) -> SlotEvent | None:
        return self.events.popleft() if self.events and self.units else None

    def provide(self, slot: str, asset: str, parts: object) -> None:
        self.provided.append((slot, asset))

    def stop(self) -> None:
        self.events.clear()

    def close(self) -> None:
        pass


def measure(
    dataset: Dataset, plan: Sequence[SnapshotQueries], executor: FakeCluster, kept: Kept
) -> RunResult:
    callbacks = Callbacks(listen=kept.listen, on_result=kept.on_answer, command="compare")
    [one] = executor.measure_latency(
        "node7",
        [toy("Good")],
        dataset,
        plan,
        settings=ONCE,
        callbacks=callbacks,
    )
    return one


def answered(query_id: str) -> QueryEnded:
    return QueryEnded("timing", 0, QueryResult(Answer(query_id, latency_ns=5)))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.extensions.cluster.latency.LOOK_S", 0.0)
    monkeypatch.setattr("karat.extensions.cluster.latency.NO_SLOT_S", 0.0)


def on_slot_two(
    names: Sequence[str], dataset: Dataset, plan: Sequence[SnapshotQueries], callbacks: Callbacks
) -> list[RunResult]:
    return ThreadExecutor(2).measure_latency(
        "2",
        [toy(name) for name in names],
        dataset,
        plan,
        settings=ONCE,
        callbacks=callbacks,
    )


def test_a_slot_does_what_this_machine_does(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a", "b", "fail c")
    plan = snapshots(dataset)
    here = measure_latency(
        [toy("Good"), toy("Bad")],
        dataset,
        plan,
        settings=ONCE,
        callbacks=Callbacks(on_result=kept.on_answer),
    )
    order = [(run, answer.query_id) for run, answer, _ in kept.answers]
    kept.answers.clear()
    there = on_slot_two(
        ["Good", "Bad"],
        dataset,
        plan,
        Callbacks(listen=kept.listen, on_result=kept.on_answer),
    )
    assert [(run, answer.query_id) for run, answer, _ in kept.answers] == order
    for one, other in zip(here, there, strict=True):
        assert other.run.query_ids == one.run.query_ids
        assert list(other.run.outcomes) == list(one.run.outcomes)
        assert other.notes.keys() - one.notes.keys() == {"timed_on"}
        assert other.notes["timed_on"] == platform.node()
        assert one.timings
        assert other.timings
        assert other.timings.alone
        timed = [sample.query_id for sample in other.timings.samples]
        assert timed == [sample.query_id for sample in one.timings.samples]
    assert list(there[1].run.outcomes).count(Outcome.ERROR) == 1
    assert there[1].notes["tracebacks"].keys() == here[1].notes["tracebacks"].keys()  # type: ignore[attr-defined]


def test_it_waits_for_runs_of_that_machine(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a")
    callbacks = Callbacks(
        listen=kept.listen, cancelled=lambda: "waiting" in kept.kinds(), command="compare"
    )
    with announce("sweep"):
        [one] = on_slot_two(["Good"], dataset, snapshots(dataset), callbacks)
    holders = kept.events[0].detail["holders"]
    assert isinstance(holders, list)
    assert [holder["command"] for holder in holders] == ["sweep"]
    assert one.notes["status"] == "cancelled"


def test_without_waiting_it_is_disturbed(snapshots: Visits) -> None:
    dataset = gold("a")
    with announce("sweep"):
        [one] = on_slot_two(["Good"], dataset, snapshots(dataset), Callbacks(wait=False))
    assert one.timings
    assert not one.timings.alone


def test_ctrl_c_keeps_what_was_measured(source: Source, kept: Kept) -> None:
    dataset = gold("a", "hang")

    def interrupt(event: RunEvent) -> None:
        kept.listen(event)
        if event.kind == "answered":
            raise KeyboardInterrupt

    callbacks = Callbacks(listen=interrupt, on_result=kept.on_answer)
    [one] = on_slot_two(["Bad"], dataset, [SnapshotQueries(source, (0, 1))], callbacks)
    assert one.notes["status"] == "cancelled"
    assert list(one.run.query_ids) == ["a"]


def test_one_unit_has_all_work(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a", "b")
    ended = UnitEnded("timing", "x", (UsageCounters(index_ns=7),), TimedMachine(True, 0.5))
    cluster = FakeCluster(answered("b"), answered("a"), ended)
    one = measure(dataset, snapshots(dataset), cluster, kept)
    [unit] = cluster.units
    assert unit.timing == (f"compare of {platform.node()}", True)
    assert dict(unit.queries) == {0: ("a", "a"), 1: ("b", "b")}
    assert one.timings
    assert (one.timings.index_ns, one.timings.alone) == (7, True)
    assert (one.notes["load"], one.notes["timed_on"]) == (0.5, "node7")


def test_a_snapshot_that_nobody_needs_is_not_sent() -> None:
    dataset = gold("a", "b")
    trees = [Source.of_texts({f"{name}.py": ""}) for name in "ab"]
    plan = [SnapshotQueries(tree, (row,)) for row, tree in enumerate(trees)]
    cluster = FakeCluster(answered("b"), UnitEnded("timing", "x", (UsageCounters(),)))
    cluster.measure_latency(
        "s1",
        [toy("Good")],
        dataset,
        plan,
        settings=ONCE,
        callbacks=Callbacks(skip={"Good": {"a"}}),
    )
    assert cluster.units[0].snapshots == (plan[1],)


@pytest.mark.parametrize(
    ("event", "reason"),
    [(UnitLost("timing", "killed"), "killed"), (SlotRejected("timing", "no /r"), "no /r")],
)
def test_a_lost_slot_keeps_what_was_measured(
    snapshots: Visits, kept: Kept, event: SlotEvent, reason: str
) -> None:
    dataset = gold("a", "b")
    cluster = FakeCluster(answered("a"), event)
    with pytest.raises(ProcessError, match=rf"slot s1 on node7 was lost .*\({reason}\)"):
        measure(dataset, snapshots(dataset), cluster, kept)
    assert [answer.query_id for _, answer, _ in kept.answers] == ["a"]


def test_a_slot_that_vanishes_is_lost(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a")
    with pytest.raises(ProcessError, match="the slot is gone"):
        measure(dataset, snapshots(dataset), FakeCluster(), kept)


def test_files_are_sent_to_a_machine_without_them(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text\n")
    dataset = gold("a")
    ended = UnitEnded("timing", "x", (UsageCounters(),))
    cluster = FakeCluster(answered("a"), ended)
    plan = all_queries_on(dataset, Source.folder(str(tmp_path)), seed=0)
    measure(dataset, plan, cluster, kept)
    (asset,) = cluster.units[0].assets.values()
    needs = FakeCluster(AssetNeeded("timing", asset.id), answered("a"), ended, looks=9)
    measure(dataset, plan, needs, Kept())
    assert needs.provided == [("s1", asset.id)]


def test_a_machine_that_does_not_appear_is_named(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a")
    with pytest.raises(ProcessError, match="--timed-on node7: no such slot or machine"):
        measure(dataset, snapshots(dataset), FakeCluster(looks=0), kept)


def test_slots_are_checked_before_anything_runs() -> None:
    FakeCluster().check_timed_on("node7")
    FakeCluster().check_timed_on("s1")
    with pytest.raises(InputError, match="the slots are\ns1  node7"):
        FakeCluster().check_timed_on("node8")
    other = Slot("s1", "node7", fingerprint()._replace(karat="0.0.1"))
    with pytest.raises(InputError, match=r"cannot be used\nslot s1: different karat: 0\.0\.1"):
        FakeCluster(slot=other).check_timed_on("node7")
    with pytest.raises(InputError, match="all slots of the local executor are on this machine"):
        LocalExecutor(2).check_timed_on("1")
