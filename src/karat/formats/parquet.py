"""Parquet runs, for results by the million: a file, a folder of parts, or a pattern.

Karat writes one row per hit with the columns ``query_id``, ``path``, ``score``, ``rank``,
``start_line``, ``end_line``, ``symbol`` and ``tokens``. Other names and lists are read too, see
:mod:`karat.formats.parquet_parts`. Hits are ordered by rank, else by descending score, else as
stored.
"""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.formats.base import Format, ReadOptions, as_run
from karat.formats.parquet_parts import COLUMNS, has_run_columns
from karat.formats.parquet_scan import ParquetRun, in_rank_order
from karat.model import Dataset, Outcome, Run
from karat.model.columns import CodedColumn
from karat.model.frozen import EMPTY
from karat.system.files import replacing
from karat.system.tables import PARQUET, polars

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT"]

GROUP_ROWS = 1 << 18


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
        found = dict(frame["position"].value_counts().iter_rows())
        counts = [found.get(number, 0) for number in range(len(queries))]
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
)
