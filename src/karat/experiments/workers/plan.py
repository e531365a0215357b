"""What is to be asked: configurations, the trees they search, and queries in a seeded order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    "Visit",
    "grouped",
    "one_visit",
    "pieces",
    "warm_up_rows",
]


class Configuration(NamedTuple):
    """An engine to be asked for *k* hits, or with *files* for hits in *k* files.

    *name* is what its run is called: by events, by the sink and in reports. Hits below *threshold*
    are dropped, as ``karat.engines.fusion`` says.
    """

    name: str
    spec: Spec
    k: int = 100
    files: bool = False
    threshold: float = 0.0


# Configurations whose engines live in one process and share what they can.
Group = tuple[Configuration, ...]


def grouped(configurations: Sequence[Configuration]) -> list[Group]:
    """Return *configurations* in groups, each as large as its engines allow.

    >>> names = ("bm25", "keyword", "hybrid")
    >>> some = [Configuration(name, Spec("engine", name)) for name in names]
    >>> [[one.name for one in group] for group in grouped(some)]
    [['bm25', 'hybrid'], ['keyword']]
    """
    groups: dict[object, list[Configuration]] = {}
    for place, configuration in enumerate(configurations):
        groups.setdefault(shareable(configuration.spec) or place, []).append(configuration)
    return [tuple(group) for group in groups.values()]


class Visit(NamedTuple):
    """A tree, and the rows of the gold set whose queries are searched there, in this order."""

    source: Source
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How engines are asked.

    *warm_up* queries go unrecorded before the first one that counts, whenever an engine was
    started or was shown another tree. Each query is then asked *repetitions* times: the first
    time is the cold one. A search that takes longer than *timeout_s* is ended, with its process;
    indexing may take *index_timeout_s*. A run is given up after *deaths* processes in a row that
    ended by themselves.
    """

    warm_up: int = 3
    repetitions: int = 3
    timeout_s: float = 30.0
    index_timeout_s: float = 3600.0
    deaths: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
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


def one_visit(dataset: Dataset, source: Source, *, seed: int) -> tuple[Visit, ...]:
    """Return the visit of one tree for all queries, their order left to chance by *seed*.

    >>> from karat.model import Query
    >>> dataset = Dataset.of([Query(str(row), "text") for row in range(5)])
    >>> one_visit(dataset, Source.of_texts({"a.py": ""}), seed=1)[0].rows
    (2, 0, 3, 1, 4)
    """
    rows = list(range(len(dataset)))
    Random(f"{seed} {source.revision}").shuffle(rows)
    return (Visit(source, tuple(rows)),)


def warm_up_rows(dataset: Dataset, visit: Visit, settings: RunSettings) -> list[int]:
    """Return the rows to warm up with on *visit*: those of other trees, else those asked last.

    A query that was just asked would not be cold any more.
    """
    own = set(visit.rows)
    others = [row for row in range(len(dataset)) if row not in own]
    Random(f"{settings.seed} warm-up {visit.source.revision}").shuffle(others)
    return [*others, *reversed(visit.rows)][: settings.warm_up]


def pieces(visits: Sequence[Visit], count: int) -> list[list[Visit]]:
    """Return *visits* in order, cut into about *count* pieces with as many queries each.

    >>> source = Source.of_texts({"a.py": ""})
    >>> [[visit.rows for visit in piece] for piece in pieces([Visit(source, (3, 1, 2))], 2)]
    [[(3, 1)], [(2,)]]
    """
    size = ceil(sum(len(visit.rows) for visit in visits) / max(count, 1))
    return list(_cut(visits, size))


def _cut(visits: Sequence[Visit], size: int) -> Iterator[list[Visit]]:
    piece: list[Visit] = []
    room = size
    for source, rows in visits:
        start = 0
        while part := rows[start : start + room]:
            piece.append(Visit(source, part))
            start += len(part)
            room -= len(part)
            if not room:
                yield piece
                piece, room = [], size
    if piece:
        yield piece
