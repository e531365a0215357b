"""Units of work as plain data, and the events that a slot sends back while it runs one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.engines.base import EmbedPart
from karat.experiments.workers.plan import Group, RunSettings, SnapshotQueries
from karat.experiments.workers.run_collector import EventKind, QueryResult, UsageCounters
from karat.experiments.workers.sources import Source
from karat.extensions.cluster.assets import AssetReference


class TimingTurn(NamedTuple):
    """A unit measures latency; other karat runs on its machine see it as *command*.

    Without *wait* it begins at once, even while another karat run disturbs it.
    """

    command: str
    wait: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """Queries of one engine group on neighbouring snapshots; everything that a slot needs.

    A unit is pure data and idempotent: any slot that runs it returns the same hits. *group* names
    the engine group; a slot keeps the session of a group for its next unit. *queries* has the id
    and text of each row in *snapshots*. *skip* has, for each configuration, the rows that it does
    not need. *ahead* are the snapshots that the same slot is likely to get next, so that content
    that neighbours share is read once. *assets* describes the content of each path, for slots on
    other machines. *environment* are variables for worker processes whose machine does not set
    them. With *timing*, latency is measured: the configurations may be of several engine groups,
    and they take turns.

    A unit with a *part* is an embed unit: it has no queries, and embeds that part of the texts of
    all snapshots into the cache that machines share.
    """

    id: str
    group: str
    configurations: Group
    settings: RunSettings
    snapshots: tuple[SnapshotQueries, ...]
    queries: Mapping[int, tuple[str, str]]
    skip: tuple[frozenset[int], ...]
    ahead: tuple[Source, ...] = ()
    assets: Mapping[str, AssetReference] = field(default_factory=dict)
    timing: TimingTurn | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    part: EmbedPart | None = None


class QueryEnded(NamedTuple):
    """The result of one query; *member* is the index of the configuration in its unit."""

    unit: str
    member: int
    result: QueryResult


class RunNews(NamedTuple):
    """An event of the run of *member*: its engine indexes, has indexed, or was restarted."""

    unit: str
    member: int
    kind: EventKind
    detail: Mapping[str, object]


class TimedMachine(NamedTuple):
    """Whether a timed unit was *alone* on its machine, and the load average when it began."""

    alone: bool
    load: float | None


class UnitEnded(NamedTuple):
    """A unit has ended; *usage* has the counters of each configuration since *session* began.

    *timed* is that of a unit that measured latency.
    """

    unit: str
    session: str
    usage: tuple[UsageCounters, ...]
    timed: TimedMachine | None = None


class AssetNeeded(NamedTuple):
    """The machine of a slot lacks the *asset* of a path; the unit waits until it has arrived."""

    unit: str
    asset: str


class UnitLost(NamedTuple):
    """A unit will not end because its slot failed; results that arrived before are valid.

    With *counted* False the unit cannot be the cause, such as after a session whose lease expired.
    """

    unit: str
    reason: str
    counted: bool = True


class SlotRejected(NamedTuple):
    """A slot cannot run *unit*, for example without its repository; nothing was run."""

    unit: str
    reason: str


SlotEvent = QueryEnded | RunNews | UnitEnded | AssetNeeded | UnitLost | SlotRejected
# One of these is the last event of each unit.
LAST_EVENTS = (UnitEnded, UnitLost, SlotRejected)
