"""Compute a table of scores from a judged run, and averages from a table."""

from array import array
from collections.abc import Collection, Sequence
from itertools import compress
from math import exp, fsum, isnan, log, nan

from karat.errors import InputError
from karat.model import JudgedQuery, JudgedRun, QueryStatus, ScoreTable
from karat.scoring.metrics.definition import Average
from karat.scoring.metrics.measure import Measure

FAILED = (QueryStatus.MISSING, QueryStatus.ERROR, QueryStatus.TIMEOUT)
# The value of a query that scores 0 in a geometric mean, as in trec_eval.
LEAST_IN_GEOMETRIC = 0.00001


def evaluate(
    judged: JudgedRun,
    measures: Collection[Measure],
    *,
    score_unjudged: bool = False,
    score_empty: bool = True,
) -> ScoreTable:
    """Return one score per query and measure; NaN means not scored.

    A query without any positive judgment is not scored. A query that the run lacks gets the score
    of an empty answer, except for measures of which less is better; of two runs, an empty answer is
    the worst in any case. trec_eval does the opposite of both: *score_unjudged* and not
    *score_empty*.

    >>> from karat.scoring.metrics.measure import parse
    >>> from karat.model import JudgedQuery
    >>> query = JudgedQuery([2], [1], ideal=[1], retrieved=5)
    >>> judged = JudgedRun("a", ("q1",), (query,), (QueryStatus.SCORED,), "trec10")
    >>> evaluate(judged, [parse("mrr")]).columns["mrr"][0]
    0.5
    """
    if judged.ties == "expected":
        unable = [str(measure) for measure in measures if not measure.expected_ties]
        if unable and judged.tied:
            raise InputError(f"the tie policy 'expected' is not defined for: {', '.join(unable)}")
    scored = [
        (score_unjudged or status is not QueryStatus.UNJUDGED)
        and (score_empty or query.retrieved > 0)
        for query, status in zip(judged.queries, judged.statuses, strict=True)
    ]
    queries = judged.queries if all(scored) else tuple(compress(judged.queries, scored))
    distinct, rows = _distinct(queries)
    columns = {}
    failed = [row for row, status in enumerate(judged.statuses) if status in FAILED]
    for measure in measures:
        values = list(map(measure.bind(), distinct))
        column = array("d", map(values.__getitem__, rows))
        if queries is not judged.queries:
            scores = iter(column)
            column = array("d", [next(scores) if is_scored else nan for is_scored in scored])
        if not measure.definition.higher_is_better and not measure.definition.compares_runs:
            # A query without an answer must not win a measure of which less is better.
            for row in failed:
                column[row] = nan
        columns[str(measure)] = column
    return ScoreTable(
        name=judged.name,
        query_ids=judged.query_ids,
        statuses=judged.statuses,
        columns=columns,
    )


def _distinct(queries: Sequence[JudgedQuery]) -> tuple[list[JudgedQuery], list[int]]:
    """Return the distinct queries, and for each query the index of its equal.

    In large collections with one judgment per query most queries are equal: the same rank of the
    same grade. Equal queries are measured once.
    """
    numbers: dict[object, int] = {}
    distinct: list[JudgedQuery] = []
    rows = []
    for query in queries:
        number = numbers.setdefault(query.signature() or id(query), len(numbers))
        if number == len(distinct):
            distinct.append(query)
        rows.append(number)
    return distinct, rows


def average(values: Sequence[float], kind: Average = "arithmetic") -> float:
    """Return the average of the scored values, NaN if there are none.

    >>> average([1.0, float("nan"), 0.0]), average([3.0, 4.0], "sum")
    (0.5, 7.0)
    """
    total = fsum(values)
    if kind == "arithmetic" and not isnan(total) and values:
        return total / len(values)
    scored = [value for value in values if not isnan(value)]
    if not scored:
        return nan
    if kind == "sum":
        return fsum(scored)
    if kind == "geometric":
        logs = [log(max(value, LEAST_IN_GEOMETRIC)) for value in scored]
        return exp(fsum(logs) / len(logs))
    return fsum(scored) / len(scored)
