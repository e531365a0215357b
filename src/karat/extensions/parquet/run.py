"""Parquet runs, for results by the million: a file, a folder of parts, or a pattern.

Karat writes one row per hit with the columns ``query_id``, ``path``, ``score``, ``rank``,
``start_line``, ``end_line``, ``symbol`` and ``tokens``. Other names and lists are read too, see
:mod:`karat.extensions.parquet.parts`. Hits are ordered by rank, else by descending score, else as
stored.

A stream of rankings needs the memory of a batch of rows, or of one query. A first pass reads the
column of queries. Where the rows of each query are adjacent, a second pass reads batches that end
where a query ends. Otherwise all rows are written to temporary files, by a hash of their query, and
each of these is ordered in memory.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from karat.errors import FormatError, Problem
from karat.extensions.parquet.parts import COLUMNS, has_run_columns, open_parts, part_files
from karat.formats.base import Format, Judged, ReadOptions, as_run
from karat.formats.ranked_columns import (
    ColumnRanking,
    QueryBatch,
    batch_of,
    by_query,
    rankings,
    repeated_rows,
)
from karat.model import Dataset, Outcome, Run
from karat.model.frozen import EMPTY, CodedColumn
from karat.system.files import replacing
from karat.system.tables import PARQUET, polars

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Ends = np.ndarray[tuple[int], np.dtype[np.int64]]


BATCH_HITS = 1 << 20
QUERY_ROWS = 1 << 22
# The number of temporary files if the number of hits is unknown.
LIST_SHARES = 64

FIRST_LISTS = 16
GROWTH = 64
RANKING = ("query", "document", "score", "rank")
GROUP_ROWS = 1 << 18


def scan_parquet_run(
    source: str | os.PathLike[str],
    judged: Judged | None,
    *,
    batch_hits: int = BATCH_HITS,
) -> Iterator[tuple[str, ColumnRanking]] | None:
    """Return a stream of rankings, or None if hits have lines or symbols: then they are not ids.

    *judged* is ``{query: {document: grade}}``; without it, the result is None too. The score orders
    the documents of a query; without scores the rank does, and without ranks the order of the rows.
    All invalid rows are raised as one FormatError when the stream ends; nothing is yielded after
    the first of them.
    """
    if judged is None:
        return None
    run = ParquetRun(source, batch_hits=batch_hits)
    if run.has_parts_of_files():
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

    def has_parts_of_files(self) -> bool:
        """Return whether any hit has lines or a symbol."""
        return any(part.has_parts_of_files() for part in self.parts)

    def whole(self) -> "pl.DataFrame":
        """Return all hits, those of a query together, queries in the order they first appear."""
        return by_query(self._read(0, self.rows, tuple(self.roles)))

    def batches(self, roles: Sequence[str] = tuple(COLUMNS.values())) -> Iterator["pl.DataFrame"]:
        """Yield frames of whole queries with those of *roles* that the run has.

        All invalid rows are raised as one FormatError at the end, and no frame is yielded after
        the first of them.
        """
        present = tuple(role for role in roles if role in self.roles)
        problems: list[Problem] = []
        ends = self._query_ends()
        slices = self._slices(present, ends, problems)
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


def detect(path: str, head: bytes) -> bool:
    """Return whether this is Parquet with the columns of a run, or with unreadable columns."""
    is_other = bool(head) and not head.startswith(PARQUET)
    return not is_other and has_run_columns(path)


def read(path: Path, _options: ReadOptions) -> Run:
    """Return one answer per query, in the order the queries first appear."""
    return _run(ParquetRun(path).whole(), name=path.name)


def scan(path: Path, _options: ReadOptions) -> Iterator[Run]:
    """Yield the same answers in runs of whole queries, of bounded size."""
    for frame in ParquetRun(path, batch_hits=GROUP_ROWS).batches():
        yield _run(frame, name=path.name)


def write(data: Dataset | Run, path: Path) -> None:
    """Write all hits as one table; an unknown score, line, symbol or token count is null."""
    write_parts([as_run(data)], path)


def write_parts(runs: Iterable[Run], path: Path) -> None:
    """Write the hits of *runs* one after the other; only one of these is in memory at a time."""
    library = polars()
    from polars.io.plugins import register_io_source

    failed: list[BaseException] = []

    def frames(*_: object) -> "Iterator[pl.DataFrame]":
        try:
            for run in runs:
                yield _frame(run)
        except BaseException as error:
            failed.append(error)
            raise

    rows = register_io_source(frames, schema=_schema(library))
    with replacing(path) as stream:
        try:
            rows.sink_parquet(stream, row_group_size=GROUP_ROWS)
        except library.exceptions.PolarsError:
            # Polars reports an error of the source as its own.
            if failed:
                raise failed[0] from None
            raise


def _schema(library: Any) -> dict[str, Any]:
    text, whole = library.String, library.Int64
    kinds = (text, text, library.Float64, whole, whole, whole, text, whole)
    return dict(zip(COLUMNS, kinds, strict=True))


def _frame(run: Run) -> "pl.DataFrame":
    """Return the hits of *run* as rows."""
    import numpy as np

    library = polars()
    offsets = np.asarray(run.offsets)
    lengths = np.diff(offsets)
    queries = library.Series(run.query_ids, dtype=library.String)
    scores = library.Series(np.asarray(run.scores, dtype=np.float64))
    columns = {
        "query_id": queries.gather(np.repeat(np.arange(len(lengths)), lengths)),
        "path": _texts(run.paths),
        "score": scores.fill_nan(None),
        "rank": np.arange(1, len(run.scores) + 1) - np.repeat(offsets[:-1], lengths),
        "start_line": np.asarray(run.start_lines),
        "end_line": np.asarray(run.end_lines),
        "symbol": _texts(run.symbols),
        "tokens": np.asarray(run.tokens),
    }
    column, unknown = library.col, {"start_line": 0, "end_line": 0, "symbol": "", "tokens": -1}
    frame: pl.DataFrame = library.DataFrame(columns, schema_overrides=_schema(library))
    return frame.with_columns(
        library.when(column(name) > least).then(column(name)).alias(name)
        for name, least in unknown.items()
    )


def _texts(coded: CodedColumn) -> "pl.Series":
    import numpy as np

    library = polars()
    names: pl.Series = library.Series(coded.names, dtype=library.String)
    return names.gather(np.asarray(coded.codes))


def _run(frame: "pl.DataFrame", *, name: str) -> Run:
    """Return the hits of *frame*, whose rows are ordered by query."""
    library = polars()
    stretches = frame["query"].rle().struct.unnest()
    queries = stretches["value"].to_list()
    if "rank" in frame.columns:
        frame = in_rank_order(frame)
    elif "score" in frame.columns:
        position = frame["query"].rle_id().alias("position")
        frame = frame.with_columns(position).sort(
            "position",
            "score",
            descending=[False, True],
            nulls_last=True,
            maintain_order=True,
        )
    offsets = array("q", [0])
    counts = stretches["len"].to_list()
    if frame["document"].null_count():
        # Lists without documents: an answer without hits.
        frame = frame.with_columns(frame["query"].rle_id().alias("position"))
        frame = frame.filter(library.col("document").is_not_null())
        hit_counts = dict(frame["position"].value_counts().iter_rows())
        counts = [hit_counts.get(number, 0) for number in range(len(queries))]
    for count in counts:
        offsets.append(offsets[-1] + count)
    return Run(
        name=name,
        query_ids=tuple(queries),
        outcomes=array("b", [Outcome.ANSWERED]) * len(queries),
        latencies_ns=array("q", [-1]) * len(queries),
        offsets=offsets,
        paths=_coded(frame["document"]),
        scores=_numbers(frame, "score", "d", float("nan")),
        start_lines=_numbers(frame, "start_line", "i", 0),
        end_lines=_numbers(frame, "end_line", "i", 0),
        symbols=_coded(_column(frame, "symbol", "")),
        tokens=_numbers(frame, "tokens", "i", -1),
        extras=(EMPTY,) * len(queries),
    )


def _column(frame: "pl.DataFrame", role: str, default: object) -> "pl.Series":
    library = polars()
    if role in frame.columns:
        return frame[role].fill_null(default)
    constant: pl.Series = library.select(library.repeat(default, len(frame))).to_series()
    return constant


def _numbers(frame: "pl.DataFrame", role: str, code: str, default: float) -> "array[Any]":
    import numpy as np

    values: array[Any] = array(code)
    values.frombytes(_column(frame, role, default).to_numpy().astype(np.dtype(code)).tobytes())
    return values


def _coded(texts: "pl.Series") -> CodedColumn:
    """Return *texts* as codes, numbered in order of first appearance."""
    import numpy as np

    library = polars()
    names = texts.unique(maintain_order=True)
    numbers = np.arange(len(names), dtype=np.int32)
    codes = array("i")
    if len(names):
        coded = texts.replace_strict(names, numbers, return_dtype=library.Int32)
        codes.frombytes(coded.to_numpy().tobytes())
    return CodedColumn(codes, tuple(names.to_list()))


FORMAT = Format(
    "parquet",
    "run",
    "Parquet run: one row per hit or per query, in one file or in parts (needs the extra 'big')",
    (".parquet",),
    detect,
    read,
    write,
    frozenset({"scores", "lines", "files", "symbols", "tokens", "unordered", "repeats"}),
    scan=scan,
    write_parts=write_parts,
    stream=scan_parquet_run,
    parts=part_files,
)
