"""The driver: sends units to slots, follows their events, and replaces what is lost."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic
from typing import NamedTuple

from karat.engines.registry import ENGINES
from karat.errors import ProcessError
from karat.extensions.cluster.assets import Asset, AssetPart, asset_parts, build_asset
from karat.extensions.cluster.fingerprint import differences, fingerprint, rejection
from karat.extensions.cluster.pool import Slot, SlotPool
from karat.extensions.cluster.schedule import LostQueries, Schedule
from karat.extensions.cluster.unit import (
    AssetNeeded,
    QueryEnded,
    RunNews,
    SlotRejected,
    UnitEnded,
    UnitLost,
)
from karat.model.spec import Spec

# Poll: a signal that arrives right before the wait does not wake it up.
POLL_S = 0.1
# How often slots are looked for.
LOOK_S = 1.0
# Seconds that running queries may still take after a cancel.
GRACE_S = 2.0
# A cluster may start its first workers, or replace a dead one, within this time.
NO_SLOT_S = 30.0
# After a longer gap between two looks this process was stopped; slots could not be seen meanwhile.
ASLEEP_S = 5.0


class AssetSender:
    """Builds each of *assets* at most once, and sends it to the machines that ask for it.

    *provide* is that of a :class:`SlotPool`.
    """

    def __init__(
        self, provide: Callable[[str, str, Iterable[AssetPart]], None], assets: Iterable[Asset]
    ) -> None:
        """Start no thread yet."""
        self._provide = provide
        self._assets = {asset.id: asset for asset in assets}
        # One thread, started with the first asset: two slots of one machine need an asset only
        # once.
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="karat-assets")
        self._folder: TemporaryDirectory[str] | None = None
        self._sending: dict[tuple[str, str], Future[None]] = {}
        self._closed = Event()

    def send(self, slot: str, asset: str) -> None:
        """Send *asset* to the machine of *slot*; return at once."""
        if (slot, asset) not in self._sending:
            self._sending[slot, asset] = self._threads.submit(self._build_and_provide, slot, asset)

    def failures(self) -> Iterator[tuple[str, str]]:
        """Yield each slot whose asset could not be sent, and the reason; each of them once."""
        for (slot, asset), done in list(self._sending.items()):
            if done.done():
                del self._sending[slot, asset]
                if error := done.exception():
                    yield (
                        slot,
                        f"{self._assets[asset].path} could not be sent to the slot: {error}",
                    )

    def close(self) -> None:
        """Stop between two parts, and remove the files."""
        self._closed.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        if self._folder:
            self._folder.cleanup()

    def _build_and_provide(self, slot: str, asset: str) -> None:
        self._folder = self._folder or TemporaryDirectory(
            prefix="karat-assets-", ignore_cleanup_errors=True
        )
        file = Path(self._folder.name) / f"{asset}.tar"
        if not file.exists():
            started = file.with_suffix(".part")
            build_asset(self._assets[asset], started)
            started.rename(file)
        self._provide(slot, asset, self._parts(asset, file))

    def _parts(self, asset: str, file: Path) -> Iterator[AssetPart]:
        for part in asset_parts(asset, file):
            if self._closed.is_set():
                raise ProcessError("the run has ended")
            yield part


class GroupEvent(NamedTuple):
    """An event of a run or the end of a unit, of the engine group at the index *group*."""

    group: int
    event: RunNews | UnitEnded


DriverEvent = GroupEvent | LostQueries


class SlotCounts(NamedTuple):
    """How many units run, on how many slots, and how many units were lost so far.

    *embedded* of *to_embed* embed units have ended.
    """

    units: int
    slots: int
    lost: int
    embedded: int
    to_embed: int


def check_slot(slot: Slot, used: Collection[str] = ()) -> str:
    """Return why *slot* cannot run units that use these extensions, "" if it can."""
    if slot.problem or slot.fingerprint is None:
        return slot.problem
    return rejection(fingerprint(), slot.fingerprint, used)


class Driver:
    """Runs the units of *schedule* on the slots of *pool*."""

    def __init__(
        self,
        pool: SlotPool,
        schedule: Schedule,
        *,
        on_result: Callable[[int, QueryEnded], None],
        assets: Iterable[Asset] = (),
        used: Collection[str] = (),
        cancelled: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Send nothing yet; *on_result* receives the index of a group and a result of it.

        *used* are the extensions that the slots need.
        """
        self._pool = pool
        self._schedule = schedule
        self._on_result = on_result
        self._cancelled = cancelled
        self._clock = clock
        self._sender = AssetSender(pool.provide, assets)
        self._used = used
        self._present: dict[str, Slot] = {}
        self._last_slot = clock()
        self._remote = False
        # Why slots are not used, by their ids, and which may compute other last digits.
        self.rejected: dict[str, str] = {}
        self.differing: dict[str, str] = {}

    @property
    def remote(self) -> bool:
        """Return whether there are slots in other installations."""
        return self._remote

    def counts(self) -> SlotCounts:
        """Return what a progress line shows."""
        schedule = self._schedule
        lost = schedule.lost.total()
        return SlotCounts(schedule.running, len(schedule.slots), lost, *schedule.embedding)

    def notes(self, spec: Spec) -> dict[str, object]:
        """Return what a reader of a run of *spec* should know about the slots."""
        notes: dict[str, object] = {}
        if lost := self._schedule.lost.total():
            notes["lost_units"] = lost
        info = ENGINES.find(spec.name)
        lexical = info is not None and info.components == ("lexical",)
        if self.differing and not lexical:
            notes["differing_slots"] = sorted(set(self.differing.values()))
        return notes

    def events(self) -> Iterator[Sequence[DriverEvent]]:
        """Yield what happens beside results, until all is done or cancelled.

        Results go to *on_result*, in the thread of the caller. ProcessError is raised if no slot is
        left.
        """
        try:
            yield from self._events()
        finally:
            self._sender.close()

    def _events(self) -> Iterator[Sequence[DriverEvent]]:
        schedule, clock, receive = self._schedule, self._clock, self._pool.receive
        look, deadline = -inf, inf
        changed = False
        before = clock()
        while True:
            now = clock()
            if now - before > ASLEEP_S:
                self._last_slot += now - before
            before = now
            if now >= look:
                self._reject_unprovided()
                yield self._look()
                look, changed = now + LOOK_S, True
            if changed:
                changed = False
                self._hand_out(now, stopping=deadline < inf)
                if schedule.done or (deadline < inf and not schedule.running):
                    return
            if now >= deadline:
                return
            event = receive(POLL_S)
            if isinstance(event, QueryEnded):
                self._pass_on(event, now)
            elif event is not None:
                changed = not isinstance(event, RunNews | AssetNeeded)
                yield self._followed(event)
            if deadline == inf and self._cancelled():
                changed, deadline = True, clock() + GRACE_S
                schedule.stop()
                self._pool.stop()

    def _hand_out(self, now: float, *, stopping: bool) -> None:
        """Give units to idle slots; ProcessError if there has been no slot for too long."""
        schedule = self._schedule
        for slot, unit in () if stopping else schedule.assign(now):
            self._pool.send(slot, unit)
        if stopping or schedule.done or schedule.running or schedule.slots:
            self._last_slot = now
        else:
            self._check_slots(now - self._last_slot)

    def add_rest(self) -> None:
        """Pass on the results that have arrived but were not looked at before an interruption."""
        while (event := self._pool.receive(0)) is not None:
            if isinstance(event, QueryEnded):
                self._pass_on(event, self._clock())

    def _pass_on(self, event: QueryEnded, now: float) -> None:
        group = self._schedule.answered(event.unit, event.member, event.result.answer.query_id, now)
        if group is not None:
            self._on_result(group, event)

    def _followed(
        self, event: RunNews | UnitEnded | AssetNeeded | UnitLost | SlotRejected
    ) -> list[DriverEvent]:
        """Pass *event* to the schedule, and return the events for the caller."""
        schedule = self._schedule
        group = schedule.group_of(event.unit)
        if group is None:
            # The unit was reported as lost; another slot has it now.
            return []
        lost: LostQueries | None = None
        events: list[DriverEvent] = []
        if isinstance(event, RunNews | UnitEnded):
            events.append(GroupEvent(group, event))
        if isinstance(event, UnitEnded):
            failed = [member for member, usage in enumerate(event.usage) if usage.failed]
            lost = schedule.ended(event.unit, failed, self._clock())
        elif isinstance(event, AssetNeeded):
            self._sender.send(schedule.slot_of(event.unit), event.asset)
        elif isinstance(event, UnitLost):
            # The slot may be dead: it gets no unit before it is listed again.
            schedule.drop_slot(schedule.slot_of(event.unit))
            lost = schedule.lose(event.unit, event.reason, counted=event.counted)
        elif isinstance(event, SlotRejected):
            slot = schedule.slot_of(event.unit)
            schedule.drop_slot(slot)
            self.rejected[slot] = event.reason
            schedule.lose(event.unit, event.reason, counted=False)
        return [*events, lost] if lost else events

    def _look(self) -> list[DriverEvent]:
        """Compare the slots of the pool with those known: some are new, some are gone."""
        events: list[DriverEvent] = []
        present = {slot.id: slot for slot in self._pool.slots()}
        for slot_id, before in self._present.items():
            if present.get(slot_id) == before:
                continue
            # Gone, or replaced by another one of this name, which is checked again.
            self.rejected.pop(slot_id, None)
            if unit := self._schedule.drop_slot(slot_id):
                events += self._followed(UnitLost(unit, f"slot {slot_id} is gone"))
        self._present = present
        for slot in present.values():
            if slot.id not in self.rejected and slot.id not in self._schedule.slots:
                self._add(slot)
        return events

    def _reject_unprovided(self) -> None:
        """Reject slots that did not get their corpus; other slots run their units."""
        for slot, reason in self._sender.failures():
            self.rejected[slot] = reason
            if unit := self._schedule.drop_slot(slot):
                self._schedule.lose(unit, reason, counted=False)

    def _add(self, slot: Slot) -> None:
        self._remote = self._remote or slot.fingerprint is not None
        if reason := check_slot(slot, self._used):
            self.rejected[slot.id] = reason
            return
        if slot.fingerprint and (other := differences(fingerprint(), slot.fingerprint)):
            self.differing[slot.id] = other
        self._schedule.add_slot(slot.id, gpu=slot.gpu)

    def _check_slots(self, waited_s: float) -> None:
        """Raise ProcessError if no slot can be used, or none appears in time."""
        unusable = [f"slot {slot}: {reason}" for slot, reason in self.rejected.items()]
        if self._present and self._present.keys() <= self.rejected.keys():
            raise ProcessError("no slot can be used\n" + "\n".join(unusable))
        if waited_s > NO_SLOT_S:
            text = f"no slot for {NO_SLOT_S:g} s; start a worker and repeat the command to continue"
            raise ProcessError("\n".join([text, *unusable]))
