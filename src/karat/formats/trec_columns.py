"""Large TREC run files as columns: nothing is done per row in Python.

Only plain files are taken: one blank between fields, six fields, UTF-8, finite scores, no document
twice. Other files are left to the tolerant reader, which also reports problems with their lines.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from karat.formats.ranked_columns import (
    ColumnRanking,
    batch_of,
    by_query,
    rankings,
    repeated_rows,
)
from karat.formats.source import GZIP

if TYPE_CHECKING:
    import polars as pl

__all__ = ["scan_columns"]

BLOCK_BYTES = 1 << 18
FIELDS = 6
BLANK = 32


def scan_columns(
    path: str | os.PathLike[str], judged: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, ColumnRanking]] | None:
    """Return a stream of rankings, or None where Polars is missing or the file is not plain."""
    try:
        import polars  # noqa: F401, ICN001 - only asked whether it is there
    except ImportError:
        return None
    with Path(path).open("rb") as stream:
        if stream.read(2) == GZIP:
            return None
    frame = _frame(path)
    if frame is None:
        return None
    batch = batch_of(by_query(frame))
    if any(query.startswith("#") for query in batch.queries) or any(
        True for _ in repeated_rows(batch)
    ):
        return None
    return rankings(batch, judged)


def _frame(path: str | os.PathLike[str]) -> "pl.DataFrame | None":
    """Return query, document and score of each row, or None where the file is not plain."""
    import polars as pl

    names = ("query", "iteration", "document", "rank", "score", "tag")
    scan = pl.scan_csv(
        Path(path),
        separator=" ",
        has_header=False,
        quote_char=None,
        schema={name: pl.Float64 if name == "score" else pl.String for name in names},
    )
    try:
        frame = scan.select("query", "document", "score").collect()
    except pl.exceptions.PolarsError:
        return None
    whole = frame.null_count().sum_horizontal().item() == 0 and frame["score"].is_finite().all()
    return frame if whole and _plain(path, len(frame)) else None


def _plain(path: str | os.PathLike[str], rows: int) -> bool:
    """Return whether *rows* lines have five single blanks each and no other white space.

    Polars rejects longer lines and pads short ones, so that the total is enough.
    """
    import numpy as np

    blanks = separators = 0
    after_blank = False
    block = bytearray(BLOCK_BYTES)
    codes = np.frombuffer(block, dtype=np.uint8)
    with Path(path).open("rb", buffering=0) as stream:
        while size := stream.readinto(block):
            separator = codes[:size] <= BLANK
            blank = codes[:size] == BLANK
            blanks += int(np.count_nonzero(blank))
            separators += int(np.count_nonzero(separator))
            if (after_blank and separator[0]) or (blank[:-1] & separator[1:]).any():
                return False
            after_blank = bool(blank[-1])
    # The last line may lack its end.
    return blanks == (FIELDS - 1) * rows and rows - 1 <= separators - blanks <= rows
