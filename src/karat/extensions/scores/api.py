"""karat.compare_scores: scores from files, a data frame or rows, compared like runs."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from karat.app.score_files import compare_scores as compare_scored
from karat.errors import InputError, MissingExtra
from karat.extensions.scores.readers import ReadScores, ScoreOptions, joined, read_scores
from karat.extensions.scores.source import scored_files
from karat.extensions.scores.table import from_table
from karat.formats.records import SourceTable, TableRow
from karat.model.frozen import EMPTY
from karat.scoring.settings import Confidence

if TYPE_CHECKING:
    from karat.model.evaluation import ComparisonResult


class _Frame(Protocol):
    """A data frame of pandas, polars or pyarrow."""

    @property
    def columns(self) -> Any: ...


ScoresLike = str | os.PathLike[str] | _Frame | Sequence[Mapping[str, object]]


def compare_scores(
    scores: "ScoresLike | Sequence[str | os.PathLike[str]]",
    metrics: Iterable[str] = (),
    *,
    columns: Mapping[str, str] = EMPTY,
    lower: Iterable[str] = (),
    by: Iterable[str] = (),
    cluster: str | None = None,
    pairs: str | None = None,
    correction: str | None = None,
    margin: float | str | Iterable[str] = (),
    confidence: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    reader: str | None = None,
) -> "ComparisonResult":
    """Return systems compared by the scores of another evaluation, the first being the baseline.

    *scores* is a file, a list of files, a data frame, or a list of rows such as
    ``{"query": "q1", "system": "old", "passed": 1}``. *columns* maps roles to columns:
    ``{"query": "question", "score": "passed,f1"}``; usual names are recognised. *lower* names
    measures of which less is better, *cluster* a tag whose queries depend on each other, and
    *margin* is a difference too small to matter.

    >>> rows = [{"query": n, "system": name, "passed": int(n < hits)}
    ...         for n in range(9) for name, hits in (("old", 1), ("new", 8))]
    >>> contest = compare_scores(rows)
    >>> contest.comparison.difference("old", "new", "passed").p
    0.015625
    """
    options = ScoreOptions(dict(columns), tuple(lower))
    chosen = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    margins = (str(margin),) if isinstance(margin, float | int | str) else tuple(margin)
    settings = Confidence(
        level=confidence,
        draws=draws,
        seed=seed,
        cluster=cluster,
        pairs=pairs,
        correction=correction,
        margins=margins,
    )
    scored = scored_files(_read(scores, options, reader), chosen)
    return compare_scored(scored, confidence=settings, by=by).contest


def _read(scores: Any, options: ScoreOptions, reader: str | None) -> ReadScores:
    """Return the scores in files or in memory."""
    if isinstance(scores, str | os.PathLike):
        return read_scores([os.fspath(scores)], options, reader=reader)
    listed = isinstance(scores, Sequence) and len(scores) > 0
    if listed and all(isinstance(one, str | os.PathLike) for one in scores):
        return read_scores(list(map(os.fspath, scores)), options, reader=reader)
    table = _table(scores if isinstance(scores, Sequence) else _rows(scores))
    return joined([(Path("scores"), from_table(table, "scores", options))], options, ["rows"])


def _rows(frame: Any) -> Sequence[Mapping[str, object]]:
    """Return the rows of a data frame; missing values are None."""
    try:
        import narwhals as nw
    except ImportError as error:
        raise MissingExtra("narwhals", extra="frames", purpose="reading a data frame") from error
    try:
        known: Any = nw.from_native(frame)
    except TypeError as error:
        raise InputError(
            f"cannot read {type(frame).__name__} as scores; expected a path, a data frame or a "
            "list of dictionaries"
        ) from error
    if isinstance(known, nw.LazyFrame):
        known = known.collect()
    rows: list[dict[str, object]] = known.rows(named=True)
    return rows


def _table(rows: Sequence[Mapping[str, object]]) -> SourceTable:
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("no rows of scores; expected dictionaries with a query, a system, a score")
    names = dict.fromkeys(str(name) for row in rows for name in row)
    cells = (
        TableRow(0, number, {str(name): value for name, value in row.items()})
        for number, row in enumerate(rows, 1)
    )
    return SourceTable(tuple(names), tuple(cells))
