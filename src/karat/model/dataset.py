"""Datasets: queries with their targets."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import NamedTuple

from karat.errors import InputError
from karat.model.frozen import EMPTY, CodedColumn, by_value, encode, repeated, value_hash
from karat.system.words import counted

# The key of the metadata that lists lines to hide from every engine, see karat.corpus.snapshot.
MASKS = "masks"
# The metadata of a dataset whose targets are the hits of a run: the measures that other runs are
# compared with it by.
COMPARED_BY = "compared_by"


@by_value
class Target(NamedTuple):
    """One relevant item: a document or file, or a line range or symbol in it.

    Lines count from 1, both ends inclusive; 0 and 0 mean the whole file. A grade above 0 is
    relevant. An empty path with a symbol means that symbol anywhere. *ref* is the type of *path*: a
    path, or a document id, URI, content hash or file name that must still be resolved. With
    the ref ``quote``, *symbol* is a quoted passage whose lines must still be found, in the document
    *path* if there is one. *subtopics* are the aspects of the query that the target is relevant
    to, for measures of diversity.
    """

    path: str
    grade: float = 1.0
    start_line: int = 0
    end_line: int = 0
    symbol: str = ""
    ref: str = "path"
    subtopics: tuple[str, ...] = ()

    def __hash__(self) -> int:
        # Matching hashes every target, and only its grade can be NaN.
        return value_hash(self) if isnan(self.grade) else tuple.__hash__(self)


@by_value
class Query(NamedTuple):
    """One query with its targets; *extra* has further fields of its source format."""

    id: str
    text: str
    targets: tuple[Target, ...] = ()
    tags: Mapping[str, str] = EMPTY
    extra: Mapping[str, object] = EMPTY


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Queries and targets as columns; the targets of query *i* are rows offsets[i]:offsets[i+1].

    *match* names the matching mode for its targets; *subtopics* has those of the rows that have
    some. Build one with :meth:`of`.
    """

    name: str
    query_ids: tuple[str, ...]
    texts: tuple[str, ...]
    offsets: "array[int]"
    paths: CodedColumn
    grades: "array[float]"
    start_lines: "array[int]"
    end_lines: "array[int]"
    symbols: CodedColumn
    refs: CodedColumn
    tags: Mapping[str, tuple[str, ...]]
    extras: tuple[Mapping[str, object], ...]
    match: str
    metadata: Mapping[str, object] = field(default_factory=dict)
    subtopics: Mapping[int, tuple[str, ...]] = EMPTY

    @classmethod
    def of(
        cls,
        queries: Iterable[Query],
        *,
        name: str = "dataset",
        match: str = "exact",
        metadata: Mapping[str, object] | None = None,
    ) -> "Dataset":
        """Return *queries* as columns; duplicate query ids raise InputError.

        >>> Dataset.of([Query("q1", "where is login", (Target("auth.py"),))]).query_ids
        ('q1',)
        """
        rows = list(queries)
        ids = tuple(query.id for query in rows)
        if twice := repeated(ids):
            raise InputError(f"{name}: query id {twice[0]!r} appears more than once")
        targets = [target for query in rows for target in query.targets]
        offsets = array("q", [0])
        for query in rows:
            offsets.append(offsets[-1] + len(query.targets))
        tag_names = sorted({tag for query in rows for tag in query.tags})
        return cls(
            name=name,
            query_ids=ids,
            texts=tuple(query.text for query in rows),
            offsets=offsets,
            paths=encode(target.path for target in targets),
            grades=array("d", [target.grade for target in targets]),
            start_lines=array("i", [target.start_line for target in targets]),
            end_lines=array("i", [target.end_line for target in targets]),
            symbols=encode(target.symbol for target in targets),
            refs=encode(target.ref for target in targets),
            tags={tag: tuple(query.tags.get(tag, "") for query in rows) for tag in tag_names},
            extras=tuple(query.extra for query in rows),
            match=match,
            metadata=dict(metadata or {}),
            subtopics={row: each.subtopics for row, each in enumerate(targets) if each.subtopics},
        )

    def with_queries(self, queries: Iterable[Query]) -> "Dataset":
        """Return *queries* as a dataset with the name, matching mode and metadata of this one.

        >>> gold = Dataset.of([Query("q1", "login"), Query("q2", "logout")], name="auth")
        >>> part = gold.with_queries(query for query in gold.queries() if query.id == "q2")
        >>> part.name, part.query_ids
        ('auth', ('q2',))
        """
        return Dataset.of(queries, name=self.name, match=self.match, metadata=self.metadata)

    def __repr__(self) -> str:
        """Return one line: name, number of queries and of targets."""
        targets = counted(self.offsets[-1], "target")
        return f"<Dataset {self.name}: {counted(len(self), 'query')}, {targets}>"

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.query_ids)

    def targets(self, index: int) -> list[Target]:
        """Return the targets of the query at *index*."""
        return [
            Target(
                self.paths[row],
                self.grades[row],
                self.start_lines[row],
                self.end_lines[row],
                self.symbols[row],
                self.refs[row],
                self.subtopics.get(row, ()),
            )
            for row in range(self.offsets[index], self.offsets[index + 1])
        ]

    def judgments(self, index: int) -> dict[str, float]:
        """Return path -> grade of the query at *index*; of duplicates, the higher grade."""
        best: dict[str, float] = {}
        for row in range(self.offsets[index], self.offsets[index + 1]):
            path, grade = self.paths[row], self.grades[row]
            if path not in best or grade > best[path]:
                best[path] = grade
        return best

    def queries(self) -> Iterator[Query]:
        """Iterate over the queries as rows."""
        for index, query_id in enumerate(self.query_ids):
            tags = {tag: column[index] for tag, column in self.tags.items() if column[index]}
            yield Query(
                query_id,
                self.texts[index],
                tuple(self.targets(index)),
                tags,
                self.extras[index],
            )
