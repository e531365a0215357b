"""From a judged run to a table of scores, and from a table to means."""

from array import array
from collections.abc import Sequence
from math import fsum, isnan, nan

from karat.errors import InputError
from karat.metrics.measure import Measure
from karat.model import JudgedRun, ScoreTable, Status

__all__ = ["evaluate", "mean"]


def evaluate(
    judged: JudgedRun, measures: Sequence[Measure], *, score_unjudged: bool = False
) -> ScoreTable:
    """Return one score per query and measure.

    A query without any positive judgment is not scored (NaN) unless *score_unjudged* asks for
    trec_eval's way; one that the run lacks scores what an empty answer earns.

    >>> from karat.metrics.measure import parse
    >>> from karat.model import JudgedQuery
    >>> query = JudgedQuery([2], [1], ideal=[1], retrieved=5)
    >>> judged = JudgedRun("a", ("q1",), (query,), (Status.SCORED,), "trec10")
    >>> evaluate(judged, [parse("mrr")]).columns["mrr"][0]
    0.5
    """
    if judged.ties == "expected":
        unable = [str(measure) for measure in measures if not measure.definition.expected_ties]
        if unable and judged.tied:
            raise InputError(f"no expected value under ties for: {', '.join(unable)}")
    functions = [measure.bind() for measure in measures]
    columns = [array("d") for _ in measures]
    pairs = list(zip([column.append for column in columns], functions, strict=True))
    for query, status in zip(judged.queries, judged.statuses, strict=True):
        if status is Status.UNJUDGED and not score_unjudged:
            for append, _ in pairs:
                append(nan)
        else:
            for append, function in pairs:
                append(function(query))
    return ScoreTable(
        name=judged.name,
        query_ids=judged.query_ids,
        statuses=judged.statuses,
        columns={str(measure): column for measure, column in zip(measures, columns, strict=True)},
    )


def mean(column: Sequence[float]) -> float:
    """Return the mean of what is scored, NaN of nothing.

    >>> mean([1.0, float("nan"), 0.0])
    0.5
    """
    scored = [value for value in column if not isnan(value)]
    return fsum(scored) / len(scored) if scored else nan
