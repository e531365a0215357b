"""From a judged run to a table of scores, and from a table to means."""

from array import array
from collections.abc import Sequence
from math import exp, fsum, isnan, log, nan

from karat.errors import InputError
from karat.metrics.measure import Average, Measure
from karat.model import JudgedRun, ScoreTable, Status

__all__ = ["average", "evaluate"]

# What a query that earns nothing counts as in a geometric mean, as in trec_eval.
LEAST_IN_GEOMETRIC = 0.00001


def evaluate(
    judged: JudgedRun,
    measures: Sequence[Measure],
    *,
    score_unjudged: bool = False,
    score_empty: bool = True,
) -> ScoreTable:
    """Return one score per query and measure; NaN is not scored.

    A query without any positive judgment is not scored, one that the run lacks scores what an
    empty answer earns. trec_eval does the opposite of both: *score_unjudged* and not *score_empty*.

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
        unjudged = status is Status.UNJUDGED and not score_unjudged
        if unjudged or (not score_empty and not query.retrieved):
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


def average(values: Sequence[float], kind: Average = "arithmetic") -> float:
    """Return the average of what is scored, NaN of nothing.

    >>> average([1.0, float("nan"), 0.0]), average([3.0, 4.0], "sum")
    (0.5, 7.0)
    """
    scored = [value for value in values if not isnan(value)]
    if not scored:
        return nan
    if kind == "sum":
        return fsum(scored)
    if kind == "geometric":
        logs = [log(max(value, LEAST_IN_GEOMETRIC)) for value in scored]
        return exp(fsum(logs) / len(logs))
    return fsum(scored) / len(scored)
