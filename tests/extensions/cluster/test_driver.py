"""Slots that come, go and do not fit, seen by the driver."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, count

import pytest

from karat.errors import ProcessError
from karat.experiments.workers.run_collector import QueryResult, UsageCounters
from karat.extensions.cluster.driver import NO_SLOT_S, Driver
from karat.extensions.cluster.fingerprint import fingerprint
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.schedule import MOST_LOSSES, LostQueries, Schedule
from karat.extensions.cluster.unit import (
    QueryEnded,
    SlotEvent,
    SlotRejected,
    Unit,
    UnitEnded,
    UnitLost,
)
from karat.model import Answer
from tests.extensions.cluster.test_schedule import rows, schedule, work


class FakePool:
    """Slots that do as their name says: ``good``, ``dies``, ``lost``, ``lacks`` or ``silent``."""

    def __init__(self, *names: str) -> None:
        self.present = [Slot(name, "machine") for name in names]
        self.sent: list[tuple[str, list[int]]] = []
        self.events: deque[SlotEvent] = deque()
        self.stopped = False

    def slots(self) -> Sequence[Slot]:
        return list(self.present)

    def send(self, slot: str, unit: Unit) -> None:
        self.sent.append((slot, rows(unit)))
        wanted = rows(unit)
        if slot.startswith("lacks"):
            self.events.append(SlotRejected(unit.id, "no folder /r"))
            return
        if not slot.startswith("good"):
            wanted = wanted[:1]
        if slot.startswith("silent"):
            return
        for row in wanted:
            result = QueryResult(Answer(unit.queries[row][0]))
            self.events.append(QueryEnded(unit.id, 0, result))
        if slot.startswith("dies"):
            self.present = [one for one in self.present if one.id != slot]
        elif slot.startswith("lost"):
            self.events.append(UnitLost(unit.id, "out of memory"))
        else:
            self.events.append(UnitEnded(unit.id, slot, (UsageCounters(),)))

    def receive(self, timeout_s: float) -> SlotEvent | None:
        return self.events.popleft() if self.events else None

    def provide(self, slot: str, asset: str, parts: object) -> None:
        raise AssertionError("no slot asked for an asset")

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        pass


def drive(pool: FakePool, plan: Schedule, **options: object) -> tuple[list[str], list[LostQueries]]:
    """Return the ids of the answered queries, and what was given up."""
    answered: list[str] = []
    lost: list[LostQueries] = []

    def on_result(group: int, event: QueryEnded) -> None:
        assert group == 0
        answered.append(event.result.answer.query_id)

    options = {"clock": count(0.0, 0.4).__next__, **options}
    driver = Driver(pool, plan, on_result=on_result, **options)  # type: ignore[arg-type]
    for events in driver.events():
        lost += [event for event in events if isinstance(event, LostQueries)]
    return answered, lost


def all_ids(number: int) -> list[str]:
    return sorted(f"q{row}" for row in range(number))


def test_a_slot_that_is_gone_costs_only_what_it_had_not_answered() -> None:
    pool, plan = FakePool("dies", "good"), schedule(work(8), slots=0)
    answered, lost = drive(pool, plan)
    assert (sorted(answered), lost) == (all_ids(8), [])
    assert plan.lost == {0: 1}
    assert pool.sent[0] == ("dies", [0, 1])


def test_a_slot_that_joins_later_is_used() -> None:
    pool, plan = FakePool(), schedule(work(3), slots=0)
    waited = iter([[], [Slot("good", "machine")]])
    pool.slots = lambda: next(waited, [Slot("good", "machine")])  # type: ignore[method-assign]
    answered, _ = drive(pool, plan)
    assert sorted(answered) == all_ids(3)


def test_a_slot_without_the_folder_is_out_and_the_others_go_on() -> None:
    pool, plan = FakePool("lacks", "good"), schedule(work(8), slots=0)
    answered, lost = drive(pool, plan)
    assert (sorted(answered), lost) == (all_ids(8), [])
    assert not plan.lost
    assert [slot for slot, _ in pool.sent].count("lacks") == 1


def test_no_slot_left_names_all_of_them() -> None:
    other = fingerprint()._replace(grammars="tree-sitter 0.1")
    pool = FakePool("lacks")
    pool.present.append(Slot("old", "machine", other))
    with pytest.raises(ProcessError) as raised:
        drive(pool, schedule(work(8), slots=0))
    assert str(raised.value).startswith("no slot can be used\n")
    assert "slot lacks: no folder /r" in str(raised.value)
    assert "slot old: different grammars: tree-sitter 0.1; expected" in str(raised.value)
    assert [slot for slot, _ in pool.sent] == ["lacks"]


def test_other_kernels_are_noted() -> None:
    other = fingerprint()._replace(kernels="SSE42")
    pool, plan = FakePool(), schedule(work(3), slots=0)
    pool.present = [Slot("good", "machine", other)]
    driver = Driver(pool, plan, on_result=lambda *_: None)
    assert sum(len(events) for events in driver.events()) == 1
    assert driver.differing == {
        "good": f"kernels SSE42 instead of {fingerprint().kernels}",
    }


def test_a_slot_whose_problem_is_gone_is_used() -> None:
    pool, plan = FakePool("silent"), schedule(work(3), slots=0)
    bad, good = Slot("good", "machine", problem="no Karat"), Slot("good", "machine")
    waited = iter([[*pool.present, bad], [good]])
    pool.slots = lambda: next(waited, [good])  # type: ignore[method-assign]
    answered, _ = drive(pool, plan)
    assert sorted(answered) == all_ids(3)


def test_the_time_that_the_driver_slept_is_no_wait_for_a_slot() -> None:
    """The pool of a driver that was stopped lists no slot until the workers have answered again."""
    pool, plan = FakePool("good"), schedule(work(3), slots=0)
    looks: Iterator[list[Slot]] = iter([[], []])
    pool.slots = lambda: next(looks, [Slot("good", "machine")])  # type: ignore[method-assign]
    times = chain([0.0, 0.0, 0.1, 45.0], count(45.1, 0.4))
    answered, _ = drive(pool, plan, clock=times.__next__)
    assert sorted(answered) == all_ids(3)


def test_a_slot_is_waited_for_only_so_long() -> None:
    with pytest.raises(ProcessError, match=f"no slot for {NO_SLOT_S:g} s; start a worker"):
        drive(FakePool(), schedule(work(3), slots=0))


def test_queries_lost_three_times_are_given_up() -> None:
    pool, plan = FakePool("lost1", "lost2", "lost3"), schedule(work(1), slots=0)
    pool.send = lambda slot, unit: pool.events.append(UnitLost(unit.id, "ouch"))  # type: ignore[method-assign]
    answered, lost = drive(pool, plan)
    assert answered == []
    assert [(one.missing, one.reason) for one in lost] == [({0: (0,)}, "ouch")]


def test_a_slot_that_lost_a_unit_gets_the_next_one_when_it_is_seen_again() -> None:
    pool, plan = FakePool("lost"), schedule(work(4), slots=0)
    seen: list[int] = []
    slots = pool.slots

    def look() -> Sequence[Slot]:
        seen.append(len(pool.sent))
        return slots()

    pool.slots = look  # type: ignore[method-assign]
    drive(pool, plan)
    # No two units without a look in between.
    assert set(range(len(pool.sent) + 1)) <= {*seen, len(pool.sent)}


def test_a_loss_without_a_fault_of_the_unit_is_not_counted() -> None:
    pool, plan = FakePool("good"), schedule(work(2), slots=0)
    send, losses = pool.send, iter(range(MOST_LOSSES))

    def expire(slot: str, unit: Unit) -> None:
        if next(losses, None) is None:
            send(slot, unit)
        else:
            pool.events.append(UnitLost(unit.id, "expired", counted=False))

    pool.send = expire  # type: ignore[method-assign]
    answered, lost = drive(pool, plan)
    assert (sorted(answered), lost) == (all_ids(2), [])
    assert not plan.lost


def test_units_that_a_cancel_ends_are_not_given_up() -> None:
    pool, plan = FakePool("slot"), schedule(work(1), slots=0)
    sent: list[Unit] = []

    def send(slot: str, unit: Unit) -> None:
        sent.append(unit)
        if len(sent) < MOST_LOSSES:
            pool.events.append(UnitLost(unit.id, "killed"))

    def stop() -> None:
        pool.events.append(UnitEnded(sent[-1].id, "", (UsageCounters(),)))

    pool.send, pool.stop = send, stop  # type: ignore[method-assign]
    _, lost = drive(pool, plan, cancelled=lambda: len(sent) == MOST_LOSSES)
    assert lost == []
    assert not plan.done


def test_a_cancel_waits_for_running_queries_a_little() -> None:
    pool, plan = FakePool("silent"), schedule(work(3), slots=0)
    answered, _ = drive(pool, plan, cancelled=lambda: bool(pool.sent))
    assert answered == []
    assert pool.stopped
