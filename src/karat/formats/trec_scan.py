"""TREC run files as a stream of rankings, with the standard library alone or with columns.

There are three ways with the same result: a small file is gathered; a large one is read as columns
where Polars is installed and the file is plain; any other is streamed one query at a time.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.formats.source import Problems, open_bytes
from karat.formats.trec_lines import blocks, decode_ids, numbers, split_rows

__all__ = ["scan_trec_run"]

LARGE_BYTES = 8_000_000
FIRST_FIELD = re.compile(rb"^[^\S\n]*([^\s#]\S*)", re.MULTILINE)

Judged = Mapping[str, Mapping[str, float]]


class Segment(NamedTuple):
    """Consecutive rows of one query."""

    query: str
    documents: list[str]
    scores: list[float]
    lines: Sequence[int]


def scan_trec_run(
    path: str | os.PathLike[str], judged: Judged | None = None, *, large: int = LARGE_BYTES
) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield each query with its ``{document: score}``, in the order the queries first appear.

    *judged* is ``{query: {document: grade}}``. With it, files of *large* bytes or more may come as
    :class:`~karat.formats.ranked_columns.ColumnRanking`, which knows the scores of all documents
    but looks up only judged ones. Everything wrong with the file is raised as one FormatError, at
    the latest when the stream ends. Memory is bounded by one query where the file is too large to
    gather and each query's rows are adjacent.
    """
    if _size(path) < large:
        yield from _gathered(path).items()
        return
    if judged is not None:
        from karat.formats.trec_columns import scan_columns

        columns = scan_columns(path, judged)
        if columns is not None:
            yield from columns
            return
    if _adjacent(path):
        yield from _streamed(path)
    else:
        yield from _gathered(path).items()


def _size(path: str | os.PathLike[str]) -> int:
    with open_bytes(path) as stream:  # raises the InputError of a missing file
        return os.fstat(stream.fileno()).st_size


def _gathered(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    problems = Problems(path)
    rankings: dict[str, dict[str, float]] = {}
    for segment in _segments(path, problems):
        _extend(rankings.setdefault(segment.query, {}), segment, problems)
    problems.finish()
    return rankings


def _streamed(path: str | os.PathLike[str]) -> Iterator[tuple[str, Mapping[str, float]]]:
    problems = Problems(path)
    query: str | None = None
    ranking: dict[str, float] = {}
    for segment in _segments(path, problems):
        if segment.query != query:
            if query is not None and not problems:
                yield query, ranking
            query, ranking = segment.query, {}
        _extend(ranking, segment, problems)
    problems.finish()
    if query is not None:
        yield query, ranking


def _segments(path: str | os.PathLike[str], problems: Problems) -> Iterator[Segment]:
    """Yield the rows by query; after the first problem only look for more of them."""
    total = 0
    for line, block in blocks(path):
        lines, (queries, documents, scores) = split_rows(
            block, line, width=6, want=(0, 2, 4), problems=problems, longer=True
        )
        total += len(lines)
        names = decode_ids(documents, lines, problems)
        values = numbers(scores, lines, "score", problems)
        texts = dict(zip(queries, decode_ids(queries, lines, problems), strict=True))
        if problems:
            continue
        start = 0
        while start < len(queries):
            stop = _end_of(queries, start)
            yield Segment(
                texts[queries[start]], names[start:stop], values[start:stop], lines[start:stop]
            )
            start = stop
    if not total and not problems:
        problems.add(0, "no row in the file; expected query Q0 document rank score tag")


def _end_of(queries: list[bytes], start: int) -> int:
    """Return where the stretch of equal ids that begins at *start* ends."""
    query = queries[start]
    stop = start + 1
    step = 64
    # Long stretches are skipped by comparing slices, short ones by single steps.
    while queries[stop : stop + step] == [query] * step:
        stop += step
    while stop < len(queries) and queries[stop] == query:
        stop += 1
    return stop


def _extend(ranking: dict[str, float], segment: Segment, problems: Problems) -> None:
    before = len(ranking)
    known = set(ranking) if before else set()
    ranking.update(zip(segment.documents, segment.scores, strict=True))
    if len(ranking) == before + len(segment.documents):
        return
    for document, line in zip(segment.documents, segment.lines, strict=True):
        if document in known:
            problems.add(line, f"{document!r} is returned twice for query {segment.query!r}")
        known.add(document)


def _adjacent(path: str | os.PathLike[str]) -> bool:
    """Return whether the rows of each query stand together."""
    seen: set[bytes] = set()
    last = b""
    for _, block in blocks(path):
        queries = FIRST_FIELD.findall(block)
        start = 0
        while start < len(queries):
            query = queries[start]
            if query != last and query in seen:
                return False
            seen.add(query)
            last = query
            start = _end_of(queries, start)
    return True
