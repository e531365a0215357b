"""Runs in Parquet as a stream of rankings: memory is bounded by a batch of rows, or by one query.

A first pass reads the column of queries. Where the rows of each query are adjacent, a second pass
reads batches that end where a query ends. Otherwise all rows are written to temporary files, by a
hash of their query, and each of these is ordered in memory.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from karat.errors import FormatError, Problem
from karat.formats.parquet_parts import COLUMNS, open_parts
from karat.formats.ranked_columns import (
    ColumnRanking,
    QueryBatch,
    batch_of,
    by_query,
    rankings,
    repeated_rows,
)
from karat.model.frozen import EMPTY

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Ends = np.ndarray[tuple[int], np.dtype[np.int64]]

__all__ = ["ParquetRun", "in_rank_order", "scan_parquet_run"]

BATCH_HITS = 1 << 20
QUERY_ROWS = 1 << 22
# The number of temporary files if the number of hits is unknown.
LIST_SHARES = 64
FIRST_LISTS = 16
GROWTH = 64
RANKING = ("query", "document", "score", "rank")


def scan_parquet_run(
    source: str | os.PathLike[str],
    judged: Mapping[str, Mapping[str, float]],
    *,
    batch_hits: int = BATCH_HITS,
) -> Iterator[tuple[str, ColumnRanking]] | None:
    """Return a stream of rankings, or None if hits have lines or symbols: then they are not ids.

    *judged* is ``{query: {document: grade}}``. The score orders the documents of a query; without
    scores the rank does, and without ranks the order of the rows. All invalid rows are raised as
    one FormatError when the stream ends; nothing is yielded after the first of them.
    """
    run = ParquetRun(source, batch_hits=batch_hits)
    if run.has_places():
        return None
    return _rankings(run, judged)


class ParquetRun:
    """The rows of a run in one Parquet file or several parts."""

    def __init__(self, source: str | os.PathLike[str], *, batch_hits: int = BATCH_HITS) -> None:
        """Open all parts; *batch_hits* is the size of a batch, unless one query has more hits."""
        self.parts = open_parts(source)
        self.offsets = [0]
        for part in self.parts:
            self.offsets.append(self.offsets[-1] + part.rows)
        self.roles: frozenset[str] = frozenset().union(*(part.roles for part in self.parts))
        self._batch_hits = batch_hits
        self._has_lists = any(part.lists for part in self.parts)

    @property
    def rows(self) -> int:
        """Return the number of rows of all parts."""
        return self.offsets[-1]

    def has_places(self) -> bool:
        """Return whether any hit has lines or a symbol."""
        return any(part.has_places() for part in self.parts)

    def whole(self) -> "pl.DataFrame":
        """Return all hits, those of a query together, queries in the order they first appear."""
        return by_query(self._read(0, self.rows, tuple(self.roles)))

    def batches(self, roles: Sequence[str] = tuple(COLUMNS.values())) -> Iterator["pl.DataFrame"]:
        """Yield frames of whole queries with those of *roles* that the run has.

        All invalid rows are raised as one FormatError at the end, and no frame is yielded after
        the first of them.
        """
        wanted = tuple(role for role in roles if role in self.roles)
        problems: list[Problem] = []
        ends = self._query_ends()
        slices = self._slices(wanted, ends, problems)
        if ends is None:
            yield from self._regrouped(slices, problems)
        else:
            yield from slices
        if problems:
            raise FormatError(problems)

    def _slices(
        self, roles: Sequence[str], ends: "Ends | None", problems: list[Problem]
    ) -> Iterator["pl.DataFrame"]:
        """Yield slices of all rows, at the *ends* of queries if these are known."""
        start = 0
        # Lists hold an unknown number of hits: the first slice is small.
        size = FIRST_LISTS if self._has_lists else self._batch_hits
        while start < self.rows:
            stop = min(start + size, self.rows)
            if ends is not None:
                stop = _at_query_end(ends, start, stop)
            try:
                frame = self._read(start, stop, roles)
            except FormatError as error:
                problems += error.problems
            else:
                if not problems:
                    yield frame
                hits = max(len(frame), 1)
                size = max(
                    1, min(self._batch_hits * (stop - start) // hits, (stop - start) * GROWTH)
                )
            start = stop

    def _read(self, start: int, stop: int, roles: Sequence[str]) -> "pl.DataFrame":
        """Return the hits of the rows from *start* to *stop*, which may be in several parts."""
        import polars as pl

        frames: list[pl.DataFrame] = []
        problems: list[Problem] = []
        for part, (first, last) in zip(self.parts, pairwise(self.offsets), strict=True):
            low, high = max(start, first), min(stop, last)
            # A part without rows gives a run without rows its columns.
            if low < high or (start == stop and not frames):
                try:
                    frames.append(part.frame(low - first, max(high - low, 0), roles))
                except FormatError as error:
                    problems += error.problems
        if problems:
            raise FormatError(problems)
        return frames[0] if len(frames) == 1 else pl.concat(frames)

    def _query_ends(self) -> "Ends | None":
        """Return the row after the last one of each query, None if its rows are not adjacent."""
        import numpy as np

        seen: set[str | None] = set()
        lengths: list[int] = []
        last: tuple[str | None] | None = None
        for part in self.parts:
            for start in range(0, part.rows, QUERY_ROWS):
                stretches = part.queries(start, QUERY_ROWS).rle().struct.unnest()
                names, counts = stretches["value"], stretches["len"]
                if names.n_unique() < len(names):
                    return None
                queries, more = names.to_list(), counts.to_list()
                if last == (queries[0],):
                    lengths[-1] += more[0]
                    del queries[0], more[0]
                if not seen.isdisjoint(queries):
                    return None
                seen.update(queries)
                lengths += more
                last = (names[-1],)
        return np.cumsum(lengths, dtype=np.int64)

    def _regrouped(
        self, slices: Iterator["pl.DataFrame"], problems: list[Problem]
    ) -> Iterator["pl.DataFrame"]:
        """Yield the rows of *slices* by whole queries; more than one slice go through the disk."""
        import polars as pl

        first = next(slices, None)
        if first is None:
            return
        if len(first) >= self.rows and not self._has_lists:
            yield by_query(first)
            return
        least = LIST_SHARES if self._has_lists else 2
        shares = max(least, -(-self.rows // self._batch_hits))
        with TemporaryDirectory(prefix="karat-") as name:
            folder = Path(name)
            for number, frame in enumerate(chain([first], slices)):
                keyed = frame.with_columns((pl.col("query").hash() % shares).alias("share"))
                for (key,), rows in keyed.partition_by("share", as_dict=True).items():
                    (folder / str(key)).mkdir(exist_ok=True)
                    rows.drop("share").write_ipc_stream(folder / str(key) / f"{number:08}")
            for share in [] if problems else sorted(folder.iterdir()):
                files = sorted(share.iterdir())
                yield by_query(pl.concat(pl.read_ipc_stream(file) for file in files))


def _at_query_end(ends: "Ends", start: int, stop: int) -> int:
    """Return the last end of a query up to *stop*, or the first one after *start*."""
    last = int(ends.searchsorted(stop, "right")) - 1
    if last >= 0 and ends[last] > start:
        return int(ends[last])
    return int(ends[last + 1])


def in_rank_order(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return *frame*, whose rows are ordered by query, with those of each query by rank.

    Rows without a rank come last. Without a column of ranks, the rows stay as they are.
    """
    if "rank" not in frame.columns:
        return frame
    rank, query = frame["rank"].fill_nan(None), frame["query"]
    before = rank.shift()
    is_lower = (rank < before).fill_null(value=False) | (rank.is_not_null() & before.is_null())
    if not (is_lower & (query == query.shift())).any():
        return frame
    ordered = frame.with_columns(query.rle_id().alias("position"), rank).sort(
        "position", "rank", nulls_last=True, maintain_order=True
    )
    return ordered.drop("position")


def _rankings(
    run: ParquetRun, judged: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, ColumnRanking]]:
    import polars as pl

    for frame in run.batches(RANKING):
        hits = frame
        if frame["document"].null_count():
            # Lists without documents: an answer without hits.
            hits = frame.filter(pl.col("document").is_not_null())
            others = frame.filter(~pl.col("query").is_in(hits["query"].implode()))["query"]
            for query in others.unique(maintain_order=True).to_list():
                yield query, _ranking({}, {})
        if "score" not in hits.columns:
            hits = hits.with_columns(pl.lit(None, pl.Float64).alias("score"))
        batch = _with_scores(batch_of(in_rank_order(hits)))
        repeated = set(repeated_rows(batch))
        for number, (query, ranking) in enumerate(rankings(batch, judged)):
            if number in repeated:
                yield query, _first_hits(ranking, judged.get(query, {}), ranked="rank" in hits)
            else:
                yield query, ranking


def _with_scores(batch: QueryBatch) -> QueryBatch:
    """Return *batch* with the order as score for each query that has no score at all."""
    import numpy as np

    missing = np.isnan(batch.scores)
    if not missing.any():
        return batch
    starts, lengths = np.asarray(batch.starts[:-1]), np.diff(batch.starts)
    unscored = np.repeat(np.logical_and.reduceat(missing, starts), lengths)
    positions = np.arange(len(missing)) - np.repeat(starts, lengths)
    return batch._replace(scores=np.where(unscored, -positions.astype(np.float64), batch.scores))


def _first_hits(
    ranking: ColumnRanking, judged: Mapping[str, float], *, ranked: bool
) -> ColumnRanking:
    """Return *ranking* with the best hit of each document: by rank if *ranked*, else by score."""
    hits = list(zip(ranking, ranking.values().tolist(), strict=True))
    finite = [(document, score) for document, score in hits if isfinite(score)]
    if not ranked:
        finite.sort(key=lambda hit: -hit[1])
    first: dict[str, float] = {}
    for document, score in finite:
        first.setdefault(document, score)
    invalid = {
        "non-finite score": len(hits) - len(finite),
        "duplicate": len(finite) - len(first),
    }
    return _ranking(first, judged, invalid)


def _ranking(
    scores: Mapping[str, float], judged: Mapping[str, float], invalid: Mapping[str, int] = EMPTY
) -> ColumnRanking:
    import numpy as np
    import polars as pl

    return ColumnRanking(
        pl.Series(list(scores), dtype=pl.String),
        np.array(list(scores.values()), dtype=np.float64),
        judged=judged,
        returned={document: scores[document] for document in judged if document in scores},
        invalid=invalid,
    )
