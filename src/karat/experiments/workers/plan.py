"""Configurations, snapshots with their queries in a seeded order, and settings of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from random import Random
from typing import NamedTuple

from karat.engines.engine_group import shareable
from karat.errors import InputError
from karat.experiments.workers.sources import Source
from karat.model import Dataset
from karat.model.spec import Spec

__all__ = [
    "Configuration",
    "Group",
    "RunSettings",
    "SnapshotQueries",
    "all_queries_on",
    "group_configurations",
    "split_queries",
    "warm_up_rows",
]


@dataclass(frozen=True, slots=True)
class Configuration:
    """One engine with its options: *spec* returns *k* hits, without those below *threshold*.

    *name* is the name of its run in events, in the store and in reports. *options* are the settings
    in the words of the user, such as ``search_mode`` or ``chunk_size``, as JSON can hold them;
    reports compare by them. With *files*, *k* counts files instead of hits.
    ``karat.engines.fusion`` says how a threshold is applied.

    >>> Configuration("words", Spec("engine", "bm25"), 0)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: words: k is 0; expected 1 hit or more
    """

    name: str
    spec: Spec
    k: int = 100
    threshold: float = 0.0
    options: Mapping[str, object] = field(default_factory=dict)
    files: bool = False

    def __post_init__(self) -> None:
        """Reject invalid values before anything runs."""
        if not self.name.strip():
            raise InputError("a configuration has no name")
        if self.k < 1:
            raise InputError(f"{self.name}: k is {self.k}; expected 1 hit or more")
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"{self.name}: threshold {self.threshold} is not between 0 and 1")


# Configurations whose engines run in one process and share work.
Group = tuple[Configuration, ...]


def group_configurations(configurations: Sequence[Configuration]) -> list[Group]:
    """Return *configurations* in groups, each as large as its engines allow.

    >>> names = ("bm25", "keyword", "hybrid")
    >>> some = [Configuration(name, Spec("engine", name)) for name in names]
    >>> [[one.name for one in group] for group in group_configurations(some)]
    [['bm25', 'hybrid'], ['keyword']]
    """
    groups: dict[object, list[Configuration]] = {}
    for place, configuration in enumerate(configurations):
        groups.setdefault(shareable(configuration.spec) or place, []).append(configuration)
    return [tuple(group) for group in groups.values()]


class SnapshotQueries(NamedTuple):
    """A snapshot, and the rows of the gold set whose queries run on it, in this order."""

    source: Source
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How queries are run.

    *warm_up* queries run unrecorded before the first recorded one, whenever an engine was started
    or has moved to another snapshot. Each query then runs *repetitions* times, the first time cold.
    A search that takes longer than *timeout_s* is ended, with its process; indexing may take
    *index_timeout_s*. A run is given up after *deaths* processes in a row that have ended by
    themselves.
    """

    warm_up: int = 3
    repetitions: int = 3
    timeout_s: float = 30.0
    index_timeout_s: float = 3600.0
    deaths: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        """Reject invalid values."""
        if self.warm_up < 0 or self.repetitions < 1 or self.deaths < 1:
            raise InputError(
                f"warm_up {self.warm_up}, repetitions {self.repetitions}, deaths {self.deaths}; "
                "expected from 0, 1 and 1 up"
            )
        if self.timeout_s <= 0 or self.index_timeout_s <= 0:
            raise InputError(
                f"timeouts of {self.timeout_s:g} s and {self.index_timeout_s:g} s; expected more "
                "than 0"
            )


def all_queries_on(dataset: Dataset, source: Source, *, seed: int) -> tuple[SnapshotQueries, ...]:
    """Return the snapshot of one tree for all queries, their order left to chance by *seed*.

    >>> from karat.model import Query
    >>> dataset = Dataset.of([Query(str(row), "text") for row in range(5)])
    >>> all_queries_on(dataset, Source.of_texts({"a.py": ""}), seed=1)[0].rows
    (2, 0, 3, 1, 4)
    """
    rows = list(range(len(dataset)))
    Random(f"{seed} {source.revision}").shuffle(rows)
    return (SnapshotQueries(source, tuple(rows)),)


def warm_up_rows(dataset: Dataset, snapshot: SnapshotQueries, settings: RunSettings) -> list[int]:
    """Return the rows to warm up with on *snapshot*: of other snapshots, else its last ones.

    A query that has just run would not be cold any more.
    """
    own = set(snapshot.rows)
    others = [row for row in range(len(dataset)) if row not in own]
    Random(f"{settings.seed} warm-up {snapshot.source.revision}").shuffle(others)
    return [*others, *reversed(snapshot.rows)][: settings.warm_up]


def split_queries(snapshots: Sequence[SnapshotQueries], count: int) -> list[list[SnapshotQueries]]:
    """Return *snapshots* in order, cut into about *count* pieces with as many queries each.

    >>> source = Source.of_texts({"a.py": ""})
    >>> parts = split_queries([SnapshotQueries(source, (3, 1, 2))], 2)
    >>> [[snapshot.rows for snapshot in part] for part in parts]
    [[(3, 1)], [(2,)]]
    """
    size = ceil(sum(len(snapshot.rows) for snapshot in snapshots) / max(count, 1))
    return list(_cut(snapshots, size))


def _cut(snapshots: Sequence[SnapshotQueries], size: int) -> Iterator[list[SnapshotQueries]]:
    part: list[SnapshotQueries] = []
    room = size
    for source, rows in snapshots:
        start = 0
        while taken := rows[start : start + room]:
            part.append(SnapshotQueries(source, taken))
            start += len(taken)
            room -= len(taken)
            if not room:
                yield part
                part, room = [], size
    if part:
        yield part
