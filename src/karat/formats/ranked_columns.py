"""Rankings as slices of columns: nothing is done per row in Python.

A batch holds the rows of whole queries. Readers of large runs make one batch of a file, or many of
them, and yield the rankings of each.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from karat.model.frozen import EMPTY

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


# Ids are decoded in steps of this many: most readers need only the first.
FIRST_IDS, IDS_AT_ONCE = 50, 1_000


class ColumnRanking(Mapping[str, float]):
    """One query's ranking as a slice of two columns; documents become text only when asked for.

    The scores of judged documents are known beforehand, so that :meth:`get` of one of them, found
    or not, is a look-up. It is a true mapping: asked for any other, it decodes the whole slice.
    *invalid* counts the hits that were dropped, by reason.
    """

    __slots__ = ("_documents", "_judged", "_returned", "_scores", "invalid")

    def __init__(
        self,
        documents: "pl.Series",
        scores: "np.ndarray[tuple[int], np.dtype[np.float64]]",
        *,
        judged: Mapping[str, float],
        returned: Mapping[str, float],
        invalid: Mapping[str, int] = EMPTY,
    ) -> None:
        """Store the columns; *returned* has the scores of *judged* documents that were returned."""
        self._documents = documents
        self._scores = scores
        self._judged = judged
        self._returned = returned
        self.invalid = invalid

    def __len__(self) -> int:
        """Return the number of documents returned."""
        return len(self._scores)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the documents in the order of the file."""
        # Some callers need only the first few.
        yield from self._documents[:FIRST_IDS].to_list()
        for start in range(FIRST_IDS, len(self._documents), IDS_AT_ONCE):
            yield from self._documents[start : start + IDS_AT_ONCE].to_list()

    def __getitem__(self, document: str) -> float:
        """Return the score of *document*, or raise KeyError."""
        if document not in self._returned and document not in self._judged:
            # More than the judged documents are needed: decode all of them.
            self._returned = dict(zip(self, self._scores.tolist(), strict=True))
        return self._returned[document]

    def values(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":  # type: ignore[override]
        """Return the scores in the order of the file, without a copy."""
        return self._scores

    def ids_with_score(self, score: float) -> list[str]:
        """Return the documents of exactly this score, for breaking ties."""
        rows = (self._scores == score).nonzero()[0]
        return [str(name) for name in self._documents.gather(rows.tolist()).to_list()]


class QueryBatch(NamedTuple):
    """Rows of whole queries; those of query *i* are starts[i]:starts[i + 1]."""

    queries: list[str]
    starts: list[int]
    documents: "pl.Series"
    hashes: "pl.Series"
    scores: "np.ndarray[tuple[int], np.dtype[np.float64]]"


def by_query(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return the rows with those of each query together, queries in the order they first appear.

    The column ``query`` has their ids; the rows of one query keep their order.
    """
    queries = frame["query"].rle().struct.unnest()["value"]
    if queries.n_unique() == len(queries):
        return frame
    first = queries.unique(maintain_order=True)
    position = frame["query"].replace_strict(first, range(len(first))).alias("position")
    ordered = frame.with_columns(position).sort("position", maintain_order=True)
    return ordered.drop("position")


def batch_of(frame: "pl.DataFrame") -> QueryBatch:
    """Return the columns ``query``, ``document`` and ``score`` of *frame*, ordered by query."""
    import numpy as np

    stretches = frame["query"].rle().struct.unnest()
    starts = np.concatenate(([0], stretches["len"].to_numpy().cumsum(dtype=np.int64)))
    documents = frame["document"]
    scores = frame["score"].to_numpy()
    return QueryBatch(
        stretches["value"].to_list(), starts.tolist(), documents, documents.hash(), scores
    )


def repeated_rows(batch: QueryBatch) -> Iterator[int]:
    """Yield the number of each query that returns a document twice.

    Equal hashes are candidates; the documents themselves decide.
    """
    hashes = batch.hashes.to_numpy()
    for number, (start, stop) in enumerate(pairwise(batch.starts)):
        ordered = hashes[start:stop].copy()
        ordered.sort()
        if (ordered[1:] == ordered[:-1]).any():
            documents = batch.documents[start:stop]
            if documents.n_unique() < len(documents):
                yield number


def rankings(
    batch: QueryBatch, judged: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, ColumnRanking]]:
    """Yield each query of *batch* with its ranking."""
    returned = _returned(batch, judged)
    nothing: dict[str, float] = {}
    for query, (start, stop) in zip(batch.queries, pairwise(batch.starts), strict=True):
        yield (
            query,
            ColumnRanking(
                batch.documents[start:stop],
                batch.scores[start:stop],
                judged=judged.get(query, nothing),
                returned=returned.get(query, nothing),
            ),
        )


def _returned(
    batch: QueryBatch, judged: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Return ``{query: {document: score}}`` of the judged documents that were returned."""
    import numpy as np
    import polars as pl

    names = {name for query in batch.queries for name in judged.get(query, ())}
    judged_names = pl.Series(list(names), dtype=pl.String)
    # Equal hashes are candidates, found faster than equal texts; the text then decides.
    rows = batch.hashes.is_in(judged_names.hash().implode()).arg_true().to_numpy()
    numbers = np.searchsorted(batch.starts, rows, side="right") - 1
    returned: dict[str, dict[str, float]] = {}
    for number, document, score in zip(
        numbers.tolist(),
        batch.documents.gather(rows).to_list(),
        batch.scores[rows].tolist(),
        strict=True,
    ):
        query = batch.queries[number]
        if document in judged.get(query, ()):
            returned.setdefault(query, {})[document] = score
    return returned
