"""Large TREC run files as columns: nothing is done per row in Python.

Only plain files are taken: one blank between fields, six fields, UTF-8, finite scores, no document
twice. Anything else is left to the tolerant reader, which also says what is wrong and where.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karat.formats.source import GZIP

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

__all__ = ["ColumnRanking", "scan_columns"]

BLOCK_BYTES = 1 << 18
FIELDS = 6
BLANK = 32


class ColumnRanking(Mapping[str, float]):
    """One query's ranking as a slice of two columns; documents become text only when asked for.

    The scores of judged documents are known beforehand, so that :meth:`get` of one of them, found
    or not, is a look-up. It is a true mapping: asked for any other, it decodes the whole slice.
    """

    __slots__ = ("_documents", "_judged", "_returned", "_scores")

    def __init__(
        self,
        documents: "pl.Series",
        scores: "np.ndarray[tuple[int], np.dtype[np.float64]]",
        *,
        judged: Mapping[str, float],
        returned: Mapping[str, float],
    ) -> None:
        """Store the columns; *returned* has the scores of *judged* documents that were returned."""
        self._documents = documents
        self._scores = scores
        self._judged = judged
        self._returned = returned

    def __len__(self) -> int:
        """Return the number of documents returned."""
        return len(self._scores)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the documents in the order of the file."""
        return iter(self._documents.to_list())

    def __getitem__(self, document: str) -> float:
        """Return the score of *document*, or raise KeyError."""
        if document not in self._returned and document not in self._judged:
            # Somebody wants more than the judged ones: from here on all are known.
            self._returned = dict(zip(self, self._scores.tolist(), strict=True))
        return self._returned[document]

    def values(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":  # type: ignore[override]
        """Return the scores in the order of the file, without a copy."""
        return self._scores

    def ids_with_score(self, score: float) -> list[str]:
        """Return the documents of exactly this score, for breaking ties."""
        rows = (self._scores == score).nonzero()[0]
        return [str(name) for name in self._documents.gather(rows.tolist()).to_list()]


class Columns(NamedTuple):
    """The rows of a file; the rows of query *i* are starts[i]:starts[i + 1]."""

    queries: list[str]
    starts: list[int]
    documents: "pl.Series"
    hashes: "pl.Series"
    scores: "np.ndarray[tuple[int], np.dtype[np.float64]]"


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
    columns = _by_query(frame)
    if any(query.startswith("#") for query in columns.queries) or _repeats(columns):
        return None
    return _rankings(columns, judged)


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

    Polars has refused longer lines and fills short ones up, so that the total is enough to know.
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


def _by_query(frame: "pl.DataFrame") -> Columns:
    """Return the rows with each query's together, queries in the order they first appear."""
    import numpy as np

    stretches = frame["query"].rle().struct.unnest()
    queries = stretches["value"].to_list()
    if len(set(queries)) < len(queries):
        order = {query: number for number, query in enumerate(dict.fromkeys(queries))}
        position = frame["query"].replace_strict(order).alias("position")
        return _by_query(frame.with_columns(position).sort("position", maintain_order=True))
    starts = np.concatenate(([0], stretches["len"].to_numpy().cumsum(dtype=np.int64)))
    documents = frame["document"]
    scores = frame["score"].to_numpy()
    return Columns(queries, starts.tolist(), documents, documents.hash(), scores)


def _repeats(columns: Columns) -> bool:
    """Return whether a query returns a document twice.

    Equal hashes only raise the suspicion; the documents themselves decide.
    """
    import numpy as np

    hashes = columns.hashes.to_numpy()
    for start, stop in pairwise(columns.starts):
        ordered = np.sort(hashes[start:stop])
        if (ordered[1:] == ordered[:-1]).any():
            documents = columns.documents[start:stop]
            if documents.n_unique() < len(documents):
                return True
    return False


def _rankings(
    columns: Columns, judged: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, ColumnRanking]]:
    returned = _returned(columns, judged)
    nothing: dict[str, float] = {}
    for query, (start, stop) in zip(columns.queries, pairwise(columns.starts), strict=True):
        yield (
            query,
            ColumnRanking(
                columns.documents[start:stop],
                columns.scores[start:stop],
                judged=judged.get(query, nothing),
                returned=returned.get(query, nothing),
            ),
        )


def _returned(
    columns: Columns, judged: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Return ``{query: {document: score}}`` of the judged documents that were returned."""
    import numpy as np
    import polars as pl

    wanted = pl.Series(list({name for names in judged.values() for name in names}), dtype=pl.String)
    # Equal hashes are candidates, found faster than equal texts; the text then decides.
    rows = columns.hashes.is_in(wanted.hash().implode()).arg_true().to_numpy()
    numbers = np.searchsorted(columns.starts, rows, side="right") - 1
    by_query: dict[str, dict[str, float]] = {}
    for number, document, score in zip(
        numbers.tolist(),
        columns.documents.gather(rows).to_list(),
        columns.scores[rows].tolist(),
        strict=True,
    ):
        query = columns.queries[number]
        if document in judged.get(query, ()):
            by_query.setdefault(query, {})[document] = score
    return by_query
