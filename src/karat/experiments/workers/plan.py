"""Configurations, snapshots with their queries in a seeded order, and settings of a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, Self

from karat.engines.engine_group import shareable
from karat.errors import InputError
from karat.experiments.workers.sources import Source
from karat.model import Dataset
from karat.model.frozen import EMPTY
from karat.model.spec import Spec


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
    for number, configuration in enumerate(configurations):
        groups.setdefault(shareable(configuration.spec) or number, []).append(configuration)
    return [tuple(group) for group in groups.values()]


class QueryTexts:
    """Ids and texts of queries by their rows in the gold set; some rows may be missing.

    >>> queries = QueryTexts({3: ("q3", "login")})
    >>> queries.ids[3], queries.texts[3], list(queries.rows)
    ('q3', 'login', [3])
    """

    def __init__(self, queries: Mapping[int, tuple[str, str]] = EMPTY) -> None:
        """Hold *queries*: their ids and texts by row."""
        self.ids: dict[int, str] = {}
        self.texts: dict[int, str] = {}
        self.add(queries)

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """Return all queries of *dataset*."""
        return cls(dict(enumerate(zip(dataset.query_ids, dataset.texts, strict=True))))

    @property
    def rows(self) -> Iterable[int]:
        """Return the rows of all queries."""
        return self.ids.keys()

    def add(self, queries: Mapping[int, tuple[str, str]]) -> None:
        """Add further *queries*."""
        for row, (query_id, text) in queries.items():
            self.ids[row] = query_id
            self.texts[row] = text


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
    *index_timeout_s*. The rows in *repeated* run at least twice, which shows whether an engine
    answers identically. *tokenizer* counts the tokens of hits, "" for four characters each. A run
    is given up after *deaths* processes in a row that have ended by
    themselves.
    """

    warm_up: int = 3
    repetitions: int = 3
    timeout_s: float = 30.0
    index_timeout_s: float = 3600.0
    deaths: int = 3
    seed: int = 0
    repeated: frozenset[int] = frozenset()
    tokenizer: str = ""

    def times(self, row: int) -> int:
        """Return how many times the query at *row* runs.

        >>> [QUALITY.times(3), RunSettings(repetitions=1, repeated=frozenset({3})).times(3)]
        [1, 2]
        """
        return max(self.repetitions, 2) if row in self.repeated else self.repetitions

    def __post_init__(self) -> None:
        """Reject invalid values."""
        if self.warm_up < 0 or self.repetitions < 1 or self.deaths < 1:
            raise InputError(
                f"warm_up {self.warm_up}, repetitions {self.repetitions}, deaths {self.deaths}; "
                "expected at least 0, 1 and 1"
            )
        if self.timeout_s <= 0 or self.index_timeout_s <= 0:
            raise InputError(
                f"timeouts of {self.timeout_s:g} s and {self.index_timeout_s:g} s; expected more "
                "than 0"
            )


# Nothing is timed, so nothing needs to be warm.
QUALITY = RunSettings(warm_up=0, repetitions=1)


def all_queries_on(dataset: Dataset, source: Source, *, seed: int) -> tuple[SnapshotQueries, ...]:
    """Return the snapshot of one tree for all queries, in random order (*seed*).

    >>> from karat.model import Query
    >>> dataset = Dataset.of([Query(str(row), "text") for row in range(5)])
    >>> all_queries_on(dataset, Source.of_texts({"a.py": ""}), seed=1)[0].rows
    (2, 0, 3, 1, 4)
    """
    rows = list(range(len(dataset)))
    Random(f"{seed} {source.revision}").shuffle(rows)
    return (SnapshotQueries(source, tuple(rows)),)


def warm_up_rows(
    queries: QueryTexts, snapshot: SnapshotQueries, settings: RunSettings
) -> list[int]:
    """Return the rows to warm up with on *snapshot*: of other snapshots, else its last ones.

    A query that has just run would not be cold any more.
    """
    own = set(snapshot.rows)
    others = [row for row in queries.rows if row not in own]
    Random(f"{settings.seed} warm-up {snapshot.source.revision}").shuffle(others)
    return [*others, *reversed(snapshot.rows)][: settings.warm_up]
