"""Fuse the hits of several runs, query by query."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple

from karat.app.score import RunSource, distinct_names, whole_run
from karat.errors import InputError, UnknownName
from karat.model import Answer, Hit, Outcome, Run
from karat.model.run import AS_RETURNED, TIES
from karat.scoring.matching.modes import tie_policy
from karat.scoring.matching.regions import order_hits, valid_hits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

# As in karat.engines.fusion, which loads numpy.
RRF_K = 60.0
# What makes two hits of different runs the same: path, lines and symbol.
HitKey = tuple[str, int, int, str]


class ScaledHits(NamedTuple):
    """The hits of one answer with their scores on a common scale, and that of any other hit."""

    hits: Mapping[HitKey, Hit]
    scores: Sequence[float]
    absent: float


class Fusion(NamedTuple):
    """A fused run, with how many *hits* of all runs came from more than one of them.

    *partial* are the queries that only some of the runs answer.
    """

    run: Run
    shared: int
    partial: tuple[str, ...]


def fuse(
    runs: Sequence[RunSource],
    *,
    method: str = "rrf",
    weights: Sequence[float] = (),
    rrf_k: float = RRF_K,
    k: int | None = None,
    name: str = "fused",
) -> Run:
    """Return one run with the first *k* hits of the weighted sum of *runs*, for each query.

    Each run is a path, a Run or ``{query: {document: score}}``. *method* is ``rrf``: the sum of
    1 / (*rrf_k* + rank); ``min-max``: scores spread over 0 to 1; or ``z-score``: scores less their
    mean, divided by their standard deviation. By scores, a hit that a run lacks counts as the
    lowest that it returned for the query. Equal sums stay in the order of the runs.

    >>> a, b = {"q1": {"x": 9.0, "y": 5.0}}, {"q1": {"y": 0.9, "z": 0.1}}
    >>> [(hit.path, round(hit.score, 4)) for hit in fuse([a, b]).answer(0).hits]
    [('y', 0.0325), ('x', 0.0164), ('z', 0.0161)]
    >>> mixed = fuse([a, b], method="min-max", weights=[0.8, 0.2])
    >>> [(hit.path, hit.score) for hit in mixed.answer(0).hits]
    [('x', 0.8), ('y', 0.2), ('z', 0.0)]
    """
    return fused(runs, method=method, weights=weights, rrf_k=rrf_k, k=k, name=name).run


def fused(
    runs: Sequence[RunSource],
    *,
    method: str = "rrf",
    weights: Sequence[float] = (),
    rrf_k: float = RRF_K,
    k: int | None = None,
    name: str = "fused",
    run_format: str | None = None,
) -> Fusion:
    """Return what :func:`fuse` returns, and how far the runs go together."""
    if method not in METHODS:
        raise UnknownName(f"no fusion named {method!r}; known: {', '.join(METHODS)}")
    if rrf_k < 0:
        raise InputError(f"rrf_k is {rrf_k:g}; expected 0 or more")
    names = distinct_names(runs)
    chosen = _checked(weights, len(runs))
    sources = [
        _Source(whole_run(run, {}, name=own, format=run_format), own, weight)
        for run, own, weight in zip(runs, names, chosen, strict=True)
    ]
    answers, partial, shared = [], [], 0
    for query_id in dict.fromkeys(each for source in sources for each in source.row_of):
        answered = [source for source in sources if source.answers(query_id)]
        if len(answered) < len(sources):
            partial.append(query_id)
        if not answered:
            failed = next(source for source in sources if query_id in source.row_of)
            answers.append(failed.answer(query_id)._replace(latency_ns=-1))
            continue
        parts = [source.scaled(query_id, method, rrf_k) for source in answered]
        shared += sum(len(one.hits.keys() & two.hits.keys()) for one, two in combinations(parts, 2))
        summed = _summed(parts, [source.weight for source in answered])
        answers.append(Answer(query_id, tuple(summed)[:k]))
    how: dict[str, object] = {"method": method, "runs": names, "weights": chosen}
    how |= {"rrf_k": rrf_k} if method == "rrf" else {}
    run = Run.of(answers, name=name, metadata={TIES: AS_RETURNED, "fusion": how})
    return Fusion(run, shared, tuple(partial))


def _checked(weights: Sequence[float], runs: int) -> list[float]:
    """Return one weight for each of *runs*; without *weights* all are 1."""
    if runs < 2:
        raise InputError("fusion needs two runs or more")
    chosen = list(weights) or [1.0] * runs
    if len(chosen) != runs:
        raise InputError(f"{runs} runs and {len(chosen)} weights; expected one weight a run")
    if not all(isfinite(weight) and weight >= 0 for weight in chosen) or not any(chosen):
        raise InputError("a weight is negative or not finite, or all are 0; expected such as 0.7")
    return chosen


class _Source:
    """One of the runs to fuse."""

    def __init__(self, run: Run, name: str, weight: float) -> None:
        self.run = run
        self.name = name
        self.weight = weight
        self.row_of = {query_id: row for row, query_id in enumerate(run.query_ids)}
        self.ties = tie_policy(None, run)

    def answer(self, query_id: str) -> Answer:
        return self.run.answer(self.row_of[query_id])

    def answers(self, query_id: str) -> bool:
        """Return whether the run has the query, and it did not fail."""
        row = self.row_of.get(query_id)
        return row is not None and self.run.outcomes[row] == Outcome.ANSWERED

    def scaled(self, query_id: str, method: str, rrf_k: float) -> ScaledHits:
        """Return the hits of one query by rank; invalid ones and duplicates are left out."""
        import numpy as np

        hits = valid_hits(self.answer(query_id).hits, Counter())
        hits, _ = order_hits(hits, [0.0] * len(hits), self.ties)
        if method != "rrf" and any(isnan(hit.score) for hit in hits):
            raise InputError(
                f"{self.name}: query {query_id!r} has hits without scores; use --method rrf, which "
                "needs ranks only"
            )
        values = np.array([hit.score for hit in hits], np.float64)
        scores, absent = METHODS[method](values, rrf_k) if hits else (values, 0.0)
        keys = ((hit.path, hit.start_line, hit.end_line, hit.symbol) for hit in hits)
        return ScaledHits(dict(zip(keys, hits, strict=True)), scores.tolist(), absent)


def _summed(parts: Sequence[ScaledHits], weights: Iterable[float]) -> Iterator[Hit]:
    """Yield each hit once with the weighted sum of its scores, the highest first."""
    hits: dict[HitKey, Hit] = {}
    for part in parts:
        for key, hit in part.hits.items():
            hits.setdefault(key, hit)
    sums = dict.fromkeys(hits, 0.0)
    for part, weight in zip(parts, weights, strict=True):
        scores = dict(zip(part.hits, part.scores, strict=True))
        for key in sums:
            sums[key] += weight * scores.get(key, part.absent)
    for key in sorted(sums, key=lambda key: -sums[key]):
        yield hits[key]._replace(score=sums[key])


def _by_ranks(scores: "Scores", rrf_k: float) -> "tuple[Scores, float]":
    """Return 1 / (rrf_k + rank) of each hit, in the order of *scores*."""
    import numpy as np

    from karat.engines.fusion import reciprocal_ranks

    places = np.arange(len(scores), 0, -1, dtype=np.float64)
    return reciprocal_ranks(places, k=rrf_k, depth=len(scores)), 0.0


def _by_spread(scores: "Scores", _: float) -> "tuple[Scores, float]":
    """Return *scores* from 0 to 1; equal ones are all 1."""
    from karat.engines.fusion import spread

    return spread(scores), 0.0


def _by_deviation(scores: "Scores", _: float) -> "tuple[Scores, float]":
    """Return *scores* with mean 0 and standard deviation 1; equal ones are all 0."""
    deviation = scores.std()
    standard = (scores - scores.mean()) / (deviation if deviation > 0 else 1.0)
    return standard, float(standard.min())


METHODS: "Mapping[str, Callable[[Scores, float], tuple[Scores, float]]]" = {
    "rrf": _by_ranks,
    "min-max": _by_spread,
    "z-score": _by_deviation,
}
