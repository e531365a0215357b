"""Assign units to slots: pure bookkeeping, without processes, threads or a clock.

The queries of an engine group form stretches: neighbouring snapshots with their queries. A slot
works through a stretch unit by unit, so that its session indexes each snapshot once and moves from
one to the next. A slot without a stretch takes one that no slot has begun, else the second half of
the longest one. All groups are handed out at once. The embed units of a group end before its first
search unit starts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import count, islice
from math import ceil
from typing import NamedTuple

from karat.engines.base import EmbedPart
from karat.experiments.workers import RunSettings, SnapshotQueries
from karat.experiments.workers.plan import Group
from karat.extensions.cluster.assets import AssetReference
from karat.extensions.cluster.unit import Unit
from karat.model.frozen import EMPTY

# The units of a stage for each slot that may run them: a lost one costs less, and slots that are
# slower get fewer. Each unit cuts all snapshots into chunks.
EMBED_UNITS_EACH = 2
# A unit takes about this long, as soon as the time of a query is known.
UNIT_S = 30.0
# The first unit of a stretch, whose queries may take any time; a unit has a few kB.
FIRST_QUERIES, MOST_QUERIES = 64, 1000
# With several slots, the minimum number of units per stretch, so that others can take a part.
UNITS_EACH = 4
MOST_LOSSES = 3
MOST_AHEAD = 100


class EmbedProgress(NamedTuple):
    """How many embed units have ended, of how many."""

    done: int
    total: int


@dataclass(slots=True)
class _Stage:
    """The parts of one group that wait for a slot, and those that run."""

    total: int
    waiting: list[EmbedPart]
    running: int = 0
    losses: Counter[EmbedPart] = field(default_factory=Counter)

    @property
    def left(self) -> int:
        return len(self.waiting) + self.running


class EmbedStages:
    """The embed units of *groups*, planned as soon as there are several slots.

    >>> stages = EmbedStages([0], most_losses=3)
    >>> stages.plan([0], slots=2)
    >>> group, part = stages.take(None)
    >>> part, stages.blocks(0), stages.blocks(1), stages.progress
    (EmbedPart(number=0, total=4), True, False, EmbedProgress(done=0, total=4))
    """

    def __init__(self, groups: Iterable[int], *, most_losses: int) -> None:
        """Plan nothing yet; a stage ends when one of its parts was lost *most_losses* times."""
        self._groups = frozenset(groups)
        self._most_losses = most_losses
        self._stages: dict[int, _Stage] = {}
        self._planned = False

    @property
    def progress(self) -> EmbedProgress:
        """Return the progress of all stages together."""
        stages = self._stages.values()
        total = sum(stage.total for stage in stages)
        return EmbedProgress(total - sum(stage.left for stage in stages), total)

    @property
    def planned(self) -> bool:
        """Return whether the stages are planned, or none is needed."""
        return self._planned or not self._groups

    def plan(self, open_groups: Iterable[int], *, slots: int) -> None:
        """Cut the stages of those *open_groups* that need one, for *slots* slots, once."""
        if not self.planned:
            self._planned = True
            count = EMBED_UNITS_EACH * slots
            self._stages = {
                group: _Stage(count, [EmbedPart(number, count) for number in range(count)])
                for group in dict.fromkeys(open_groups)
                if group in self._groups
            }

    def blocks(self, group: int) -> bool:
        """Return whether the search units of *group* must wait."""
        stage = self._stages.get(group)
        return stage is not None and stage.left > 0

    def take(self, group: int | None) -> tuple[int, EmbedPart] | None:
        """Return the next part to embed, and its group: *group* itself if it has one."""
        waiting = [one for one, stage in self._stages.items() if stage.waiting]
        if not waiting:
            return None
        chosen = group if group in waiting else waiting[0]
        stage = self._stages[chosen]
        stage.running += 1
        return chosen, stage.waiting.pop(0)

    def end(self, group: int) -> None:
        """Note the end of a part of *group*, whether or not all could be embedded."""
        self._stages[group].running -= 1

    def lose(self, group: int, part: EmbedPart, *, counted: bool) -> None:
        """Let another slot embed *part*, unless it was lost too often; the rest waits no longer."""
        stage = self._stages[group]
        stage.running -= 1
        stage.losses[part] += counted
        if stage.losses[part] < self._most_losses:
            stage.waiting.insert(0, part)
        else:
            stage.waiting.clear()


class GroupWork(NamedTuple):
    """The work of one engine group: *snapshots* with the rows that any configuration needs.

    *skip* has, for each configuration, the rows that it does not need. With *embeds*, all texts are
    embedded before the first query.
    """

    configurations: Group
    settings: RunSettings
    snapshots: tuple[SnapshotQueries, ...]
    skip: tuple[frozenset[int], ...]
    embeds: bool = False


class LostQueries(NamedTuple):
    """Queries of *group* that are given up: *missing* has the members of the group by row."""

    group: int
    snapshots: tuple[SnapshotQueries, ...]
    missing: Mapping[int, tuple[int, ...]]
    reason: str


@dataclass(slots=True)
class _Stretch:
    """Snapshots that one slot works through; its units were lost *losses* times."""

    group: int
    snapshots: list[SnapshotQueries]
    losses: int = 0
    slot: str = ""
    # Queries of a unit, at most.
    share: int = MOST_QUERIES

    @property
    def queries(self) -> int:
        return sum(len(snapshot.rows) for snapshot in self.snapshots)


@dataclass(slots=True)
class _Running:
    """A unit on a slot, with the results that it still owes: members of the group by row."""

    unit: Unit
    stretch: _Stretch
    slot: str
    since: float
    owed: dict[int, set[int]]
    begun: float | None = None


@dataclass(slots=True)
class _GroupState:
    work: GroupWork
    # Seconds of a query, and seconds from the start of a session to its first result.
    each_s: float | None = None
    ready_s: float | None = None
    answered: int = 0
    failed: set[int] = field(default_factory=set)


class Schedule:
    """The units of *groups*, cut while they are handed out.

    Times are arguments, in seconds of any clock. Slots are known by their ids.
    """

    def __init__(
        self,
        groups: Sequence[GroupWork],
        queries: Mapping[int, tuple[str, str]],
        assets: Mapping[str, AssetReference] = EMPTY,
        environment: Mapping[str, str] = EMPTY,
    ) -> None:
        """Plan all *groups*; *queries* has the id and text of each row.

        *assets* describes the content of folders for slots on other machines; *environment* are
        variables for the worker processes.
        """
        self._assets = assets
        self._environment = environment
        self._embeds = EmbedStages(
            (group for group, work in enumerate(groups) if work.embeds),
            most_losses=MOST_LOSSES,
        )
        self._groups = [_GroupState(work) for work in groups]
        self._queries = queries
        self._row_of = {query_id: row for row, (query_id, _) in queries.items()}
        self._stretches = [
            _Stretch(group, [one for one in work.snapshots if one.rows])
            for group, work in enumerate(groups)
        ]
        # The group of the session on each slot; None before its first unit.
        self._slots: dict[str, int | None] = {}
        # Slots that embed fast: if there are any, only they get embed units.
        self._gpus: set[str] = set()
        self._running: dict[str, _Running] = {}
        self._numbers = count(1)
        self._stopping = False
        self.lost: Counter[int] = Counter()
        self.units = 0

    @property
    def done(self) -> bool:
        """Return whether nothing runs and nothing is left to run."""
        return not self._running and not any(one.snapshots for one in self._stretches)

    @property
    def running(self) -> int:
        """Return how many units are on slots."""
        return len(self._running)

    @property
    def slots(self) -> Sequence[str]:
        """Return the ids of the slots that take units."""
        return list(self._slots)

    def is_complete(self, group: int) -> bool:
        """Return whether no query of *group* runs or is left."""
        return not any(one.snapshots for one in self._stretches if one.group == group) and not any(
            one.stretch.group == group for one in self._running.values()
        )

    def group_of(self, unit: str) -> int | None:
        """Return the group of a running unit; None for one that was lost or has ended."""
        running = self._running.get(unit)
        return running.stretch.group if running else None

    def slot_of(self, unit: str) -> str:
        """Return the slot of a running unit."""
        return self._running[unit].slot

    @property
    def embedding(self) -> EmbedProgress:
        """Return how many embed units have ended."""
        return self._embeds.progress

    def stop(self) -> None:
        """Count no further loss: after a cancel, units end early on purpose."""
        self._stopping = True

    def add_slot(self, slot: str, *, gpu: bool = False) -> None:
        """Let *slot* take units; embed units go to slots with a *gpu*, if there are any."""
        self._slots.setdefault(slot, None)
        if gpu:
            self._gpus.add(slot)

    def drop_slot(self, slot: str) -> str:
        """Give *slot* no further unit; return the id of its running unit, "" if it has none."""
        self._slots.pop(slot, None)
        self._gpus.discard(slot)
        for stretch in self._stretches:
            if stretch.slot == slot:
                stretch.slot = ""
        return next((one.unit.id for one in self._running.values() if one.slot == slot), "")

    def assign(self, now: float) -> list[tuple[str, Unit]]:
        """Return the next unit of each idle slot that has something to do."""
        busy = {one.slot for one in self._running.values()}
        idle = [slot for slot in self._slots if slot not in busy]
        # A single slot embeds nothing twice.
        if len(self._slots) > 1 and not self._embeds.planned:
            left = [one.group for one in self._stretches if one.snapshots]
            self._embeds.plan(left, slots=len(self._gpus) or len(self._slots))
        first = [self._embed(slot, now) for slot in idle if not self._gpus or slot in self._gpus]
        embedding = [(slot, unit) for slot, unit in first if unit]
        busy |= {slot for slot, _ in embedding}
        # Cut when all have one: a slot may take a part of what another has just got.
        taken = [
            (slot, stretch)
            for slot in idle
            if slot not in busy and (stretch := self._stretch(slot, busy))
        ]
        return [
            *embedding,
            *((slot, self._cut(slot, stretch, now)) for slot, stretch in taken),
        ]

    def answered(self, unit: str, member: int, query_id: str, now: float) -> int | None:
        """Note a result, and return the index of its group.

        None is returned for a result of a unit that was lost, and for one that came before.
        """
        running = self._running.get(unit)
        if running is None:
            return None
        owed = running.owed.get(self._row_of[query_id])
        if owed is None or member not in owed:
            return None
        owed.remove(member)
        index = running.stretch.group
        group = self._groups[index]
        group.answered += 1
        if running.begun is None:
            running.begun = now
            if self._slots.get(running.slot) != index:
                group.ready_s = now - running.since
        return index

    def ended(self, unit: str, failed: Sequence[int], now: float) -> LostQueries | None:
        """Note the end of *unit*; the members *failed* get no further query.

        Results that it owes are queried again, as those of a lost unit.
        """
        running = self._running.get(unit)
        if not running:
            return None
        if running.unit.part:
            # Searches embed what a failed embed unit has not embedded.
            del self._running[unit]
            self._embeds.end(running.stretch.group)
            if running.slot in self._slots:
                self._slots[running.slot] = running.stretch.group
            return None
        group = self._groups[running.stretch.group]
        group.failed.update(failed)
        if len(group.failed) == len(group.work.configurations):
            self._drop(running.stretch.group)
        if running.slot in self._slots:
            self._slots[running.slot] = running.stretch.group
        size = len(running.owed)
        if size > 1 and running.begun is not None:
            group.each_s = (now - running.begun) / (size - 1)
        else:
            group.each_s = now - running.since
        if self._missing(running):
            return self._requeue(running, "the unit ended without all results", counted=True)
        del self._running[unit]
        return None

    def lose(self, unit: str, reason: str, *, counted: bool = True) -> LostQueries | None:
        """Queue the rest of *unit* again, or return it if it was lost too often.

        With *counted* False the loss is not the fault of the unit.
        """
        running = self._running.get(unit)
        if not running:
            return None
        counted = counted and not self._stopping
        if running.unit.part:
            del self._running[unit]
            if counted:
                self.lost[running.stretch.group] += 1
            self._embeds.lose(running.stretch.group, running.unit.part, counted=counted)
            return None
        return self._requeue(running, reason, counted=counted)

    def _drop(self, group: int) -> list[SnapshotQueries]:
        """Remove what is left of *group*, and return it."""
        dropped = [one for part in self._stretches if part.group == group for one in part.snapshots]
        self._stretches = [one for one in self._stretches if one.group != group]
        return dropped

    def _stretch(self, slot: str, busy: Set[str]) -> _Stretch | None:
        """Return the stretch that *slot* works on next: its own, one without a slot, or a half."""
        group = self._slots[slot]
        open_ones = [
            one for one in self._stretches if one.snapshots and not self._embeds.blocks(one.group)
        ]
        for mine in (one for one in open_ones if one.slot == slot):
            return mine
        free = [one for one in open_ones if not one.slot]
        if free:
            chosen = next((one for one in free if one.group == group), free[0])
        else:
            # One that is not running keeps at least a query.
            stolen = self._steal(
                [one for one in open_ones if one.slot in busy or one.queries > 1], group
            )
            if not stolen:
                return None
            chosen = stolen
        chosen.slot = slot
        chosen.share = ceil(chosen.queries / UNITS_EACH) if len(self._slots) > 1 else MOST_QUERIES
        return chosen

    def _steal(self, open_ones: Sequence[_Stretch], group: int | None) -> _Stretch | None:
        """Cut the second half off the longest stretch, if that saves time."""
        ranked = sorted(open_ones, key=lambda one: (-self._seconds(one), one.group != group))
        for stretch in ranked:
            state = self._groups[stretch.group]
            tail = _tail(stretch.snapshots)
            gain_s = sum(len(one.rows) for one in tail) * (state.each_s or 0.0)
            # A session of another group has to start and index first.
            if stretch.group == group or state.ready_s is None or gain_s > state.ready_s:
                stretch.snapshots = _without(stretch.snapshots, tail)
                stolen = _Stretch(stretch.group, tail, stretch.losses)
                self._stretches = [one for one in self._stretches if one.snapshots]
                self._stretches.append(stolen)
                return stolen
        return None

    def _seconds(self, stretch: _Stretch) -> float:
        return stretch.queries * (self._groups[stretch.group].each_s or 1.0)

    def _embed(self, slot: str, now: float) -> tuple[str, Unit | None]:
        """Return *slot* with its next embed unit, None if there is none."""
        taken = self._embeds.take(self._slots[slot])
        if not taken:
            return slot, None
        group, part = taken
        # Queries that ended before the stage began need no vectors.
        sources = tuple(
            SnapshotQueries(one.source, ())
            for stretch in self._stretches
            if stretch.group == group
            for one in stretch.snapshots
        )
        return slot, self._unit(slot, _Stretch(group, []), sources, now, part=part)

    def _cut(self, slot: str, stretch: _Stretch, now: float) -> Unit:
        state = self._groups[stretch.group]
        each_s = state.each_s
        size = FIRST_QUERIES if each_s is None else int(UNIT_S / max(each_s, UNIT_S / MOST_QUERIES))
        size = max(min(size, stretch.share), 1)
        taken = tuple(_head(stretch.snapshots, size))
        stretch.snapshots = _without_head(stretch.snapshots, taken)
        return self._unit(slot, stretch, taken, now)

    def _unit(
        self,
        slot: str,
        stretch: _Stretch,
        taken: tuple[SnapshotQueries, ...],
        now: float,
        *,
        part: EmbedPart | None = None,
    ) -> Unit:
        """Return a unit of the snapshots *taken* from *stretch*, which runs on *slot* from now."""
        state = self._groups[stretch.group]
        work = state.work
        rows = [row for snapshot in taken for row in snapshot.rows]
        skip = tuple(
            frozenset(rows if member in state.failed else (row for row in rows if row in skipped))
            for member, skipped in enumerate(work.skip)
        )
        self.units += 1
        unit = Unit(
            f"{next(self._numbers)}",
            f"{stretch.group}",
            work.configurations,
            work.settings,
            taken,
            {row: self._queries[row] for row in rows},
            skip,
            tuple(one.source for one in islice(stretch.snapshots, MOST_AHEAD)),
            {
                path: self._assets[path]
                for path in dict.fromkeys(one.source.path for one in taken)
                if path in self._assets
            },
            environment=self._environment,
            part=part,
        )
        members = range(len(work.configurations))
        owed = {row: {member for member in members if row not in skip[member]} for row in rows}
        self._running[unit.id] = _Running(unit, stretch, slot, now, owed)
        return unit

    def _missing(self, running: _Running) -> dict[int, set[int]]:
        """Return the results that a unit owes, without those of configurations that failed."""
        failed = self._groups[running.stretch.group].failed
        missing = {row: members - failed for row, members in running.owed.items()}
        return {row: members for row, members in missing.items() if members}

    def _requeue(self, running: _Running, reason: str, *, counted: bool) -> LostQueries | None:
        """Queue the rest of a unit: its first query alone, which may be the cause, then the others.

        After too many losses the rest is given up; without any result of its group, all of it.
        """
        del self._running[running.unit.id]
        counted = counted and not self._stopping
        if counted:
            self.lost[running.stretch.group] += 1
        missing = self._missing(running)
        rest = [
            SnapshotQueries(source, lacking)
            for source, rows in running.unit.snapshots
            if (lacking := tuple(row for row in rows if row in missing))
        ]
        group, losses = running.stretch.group, running.stretch.losses + counted
        state = self._groups[group]
        if not rest:
            return None
        if losses < MOST_LOSSES:
            first = [SnapshotQueries(rest[0].source, rest[0].rows[:1])] if counted else []
            parts = [part for part in (first, _without_head(rest, first)) if part]
            # In front, so that a cause of losses is known early.
            self._stretches[:0] = [_Stretch(group, part, losses) for part in parts]
            return None
        owed = {row: tuple(sorted(members)) for row, members in missing.items()}
        if not state.answered:
            rest += self._drop(group)
            members = range(len(state.work.configurations))
            owed |= {
                row: tuple(member for member in members if row not in state.work.skip[member])
                for snapshot in rest
                for row in snapshot.rows
                if row not in owed
            }
        return LostQueries(group, tuple(rest), owed, reason)


def _head(snapshots: Sequence[SnapshotQueries], size: int) -> Iterator[SnapshotQueries]:
    """Yield whole snapshots with at most *size* queries, or the first *size* of one snapshot."""
    room = size
    for source, rows in snapshots:
        if len(rows) <= room:
            yield SnapshotQueries(source, rows)
            room -= len(rows)
        else:
            if room == size:
                yield SnapshotQueries(source, rows[:size])
            return


def _without_head(
    snapshots: Sequence[SnapshotQueries], head: Sequence[SnapshotQueries]
) -> list[SnapshotQueries]:
    """Return *snapshots* after *head*, whose last one may be a part of a snapshot."""
    if not head:
        return list(snapshots)
    last = len(head) - 1
    source, rows = snapshots[last]
    rest = rows[len(head[last].rows) :]
    return [*([SnapshotQueries(source, rest)] if rest else []), *snapshots[last + 1 :]]


def _tail(snapshots: Sequence[SnapshotQueries]) -> list[SnapshotQueries]:
    """Return the last snapshots, with about half of all queries; of one snapshot half of its rows.

    >>> from karat.experiments.workers import Source
    >>> one = Source.of_texts({})
    >>> [part.rows for part in _tail([SnapshotQueries(one, (1, 2, 3))])]
    [(2, 3)]
    >>> [part.rows for part in _tail([SnapshotQueries(one, rows) for rows in ((1,), (2, 3), (4,))])]
    [(4,)]
    """
    if len(snapshots) == 1:
        source, rows = snapshots[0]
        return [SnapshotQueries(source, rows[len(rows) // 2 :])]
    half = sum(len(one.rows) for one in snapshots) / 2
    tail = [snapshots[-1]]
    for snapshot in reversed(snapshots[1:-1]):
        if sum(len(one.rows) for one in tail) + len(snapshot.rows) > half:
            break
        tail.insert(0, snapshot)
    return tail


def _without(
    snapshots: Sequence[SnapshotQueries], tail: Sequence[SnapshotQueries]
) -> list[SnapshotQueries]:
    if len(snapshots) > 1:
        return list(snapshots[: -len(tail)])
    source, rows = snapshots[0]
    rest = rows[: -len(tail[0].rows)]
    return [SnapshotQueries(source, rest)] if rest else []
