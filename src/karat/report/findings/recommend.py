"""Recommend a run for quality, recall, speed or balance, with its certainty."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from karat.model.comparison import Comparison, Difference
from karat.model.evaluation import Evaluation, broken_sentences
from karat.report.findings.cheapest import FLOOR_MS, RECOMMENDED, cheapest
from karat.report.findings.contenders import Advice, Contenders
from karat.report.findings.latency import comparable_ms
from karat.report.findings.record import Findings
from karat.report.table import mark_of, milliseconds, number
from karat.scoring.stats.arrays import cluster_codes, cluster_sums, one_blas_thread
from karat.scoring.stats.verdict import numbers
from karat.system.words import first_few, join_names

Array = NDArray[np.float64]

# Means of the same scores may differ by the order in which they were summed.
SAME = 1e-12


@one_blas_thread()
def resampled_means(
    values: Array, *, draws: int, seed: int, clusters: Sequence[str] | None = None
) -> Array:
    """Return ``means[draw, run]`` over queries drawn with replacement; NaN is left out.

    Queries that share a label in *clusters* are drawn together. The same seed, queries and clusters
    draw the same, so that two measures can be paired.

    >>> resampled_means(np.array([[1.0, 1.0], [0.0, 0.0]]), draws=1, seed=0).tolist()
    [[1.0, 0.0]]
    """
    known = ~np.isnan(values.T)
    sizes, totals = known.astype(float), np.where(known, values.T, 0.0)
    if clusters is not None:
        codes = cluster_codes(clusters, len(known))
        sizes, totals = cluster_sums(sizes, codes), cluster_sums(totals, codes)
    weights = _weights(len(sizes), draws=draws, seed=seed)
    counts, sums = weights @ sizes, weights @ totals
    means: Array = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return means


def resampled_medians(
    values: Array, *, draws: int, seed: int, clusters: Sequence[str] | None = None
) -> Array:
    """Return ``medians[draw, run]`` over the queries that :func:`resampled_means` draws.

    The median is the lower one of two; NaN is left out, and is the median of nothing.

    >>> resampled_medians(np.array([[1.0, 1.0], [2.0, 2.0]]), draws=1, seed=0).tolist()
    [[1.0, 2.0]]
    """
    queries = values.shape[1]
    codes = np.arange(queries) if clusters is None else cluster_codes(clusters, queries)
    weights = _weights(int(codes.max(initial=-1)) + 1, draws=draws, seed=seed)[:, codes]
    medians = np.full((draws, len(values)), np.nan)
    for run, row in enumerate(values):
        order = np.argsort(row)[: int((~np.isnan(row)).sum())]
        reached = weights[:, order].cumsum(axis=1)
        if not order.size:
            continue
        totals = reached[:, -1]
        middle = (reached >= totals[:, None] / 2).argmax(axis=1)
        medians[:, run] = np.where(totals > 0, row[order][middle], np.nan)
    return medians


def _weights(units: int, *, draws: int, seed: int) -> Array:
    """Return how often each unit is drawn in each draw."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(units, np.full(units, 1.0 / units), size=draws).astype(float)


def share_of_wins(scores: Array, run: int) -> float:
    """Return in which share of the draws *run* has the highest score, NaN being the lowest.

    Runs that have it together share the draw: of two that are the same, each is first in half. A
    draw in which no run has a score is left out.

    >>> share_of_wins(np.array([[1.0, 2.0], [3.0, 2.0], [1.0, 1.0], [0.0, 2.0]]), 1)
    0.625
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    best = known.max(axis=1, keepdims=True)
    first = (known >= best - SAME)[np.isfinite(best[:, 0])]
    return float((first[:, run] / first.sum(axis=1)).mean())


DRAWS = 2_000


QUALITY, FASTEST, BALANCE = "Best quality", "Fastest", "Best balance"


def recommendations(findings: Findings) -> tuple[Advice, ...]:
    """Return the recommendations that the runs of a report allow."""
    return advise(Contenders(findings.contest, findings.runs, findings.clusters, findings.measures))


def advise(contenders: Contenders) -> tuple[Advice, ...]:
    """Return the recommendations that the runs allow; none for a single run that is not broken."""
    if len(contenders.names) - len(contenders.contest.broken) < 2:
        return ()
    advice = tuple(_recommendations(contenders))
    mark = mark_of(contenders.contest.mark, contenders.lead)
    if not mark:
        return advice
    return tuple(
        each if each.purpose == FASTEST else each._replace(why=f"{each.why}{mark}")
        for each in advice
    )


def advice_lines(advice: Sequence[Advice], engines: Mapping[str, str]) -> Iterator[str]:
    """Yield at most three lines: the best run for each purpose, the recommended one, its engine.

    *engines* has the options that give the engine of a run.

    >>> recommended = Advice("Recommended", "b", "cheapest of 2", "")
    >>> list(advice_lines([Advice("Fastest", "b", "", ""), recommended], {"b": "-e bm25"}))
    ['fastest: b', 'recommended: b, cheapest of 2', 'recommended as an engine: -e bm25']
    """
    by_run: dict[str, list[str]] = {}
    for each in advice:
        if each.purpose in (QUALITY, FASTEST, BALANCE):
            by_run.setdefault(each.run, []).append(each.purpose.lower())
    # The verdict has the best quality already.
    if any(each.purpose == FASTEST for each in advice):
        yield "; ".join(f"{join_names(purposes)}: {run}" for run, purposes in by_run.items())
    for each in advice:
        if each.purpose == RECOMMENDED:
            yield f"recommended: {each.run}, {each.why}"
    if options := recommended_engine(advice, engines):
        yield engine_line(options)


def engine_line(options: str) -> str:
    """Return the line with the *options* that give the engine of the recommended run."""
    return f"recommended as an engine: {options}"


def recommended_engine(advice: Sequence[Advice], engines: Mapping[str, str]) -> str:
    """Return the options that give the engine of the recommended run, "" without any."""
    return next((engines.get(each.run, "") for each in advice if each.purpose == RECOMMENDED), "")


def balance(quality: Array, latency: Array) -> Array:
    """Return the mean of quality and speed, each scaled over the last axis.

    Quality is divided by the best; speed runs from 1 for the fastest to 0 for the slowest. Where
    all are as good, or as fast, as each other, that half of the score is equal for all.

    >>> balance(np.array([0.5, 1.0]), np.array([10.0, 30.0])).tolist()
    [0.75, 0.5]
    >>> balance(np.array([0.0, 0.0]), np.array([10.0, 10.0])).tolist()
    [0.5, 0.5]
    """
    best = quality.max(axis=-1, keepdims=True)
    share = np.divide(quality, best, out=np.zeros_like(quality), where=best > 0)
    fastest = latency.min(axis=-1, keepdims=True)
    spread = latency.max(axis=-1, keepdims=True) - fastest
    lost = np.divide(latency - fastest, spread, out=np.zeros_like(latency), where=spread > 0)
    return np.asarray((share + 1.0 - lost) / 2)


def _recommendations(contenders: Contenders) -> Iterator[Advice]:
    comparison = contenders.comparison
    if recommended := cheapest(contenders):
        yield recommended
    yield from _best_on(contenders, QUALITY, comparison.metrics[0])
    recalls = [name for name in comparison.metrics if contenders.measure(name).metric == "recall"]
    depth = contenders.measure(comparison.metrics[0]).k
    # The first, unless one looks as deep as the leading measure.
    recall = min(recalls, key=lambda name: contenders.measure(name).k != depth, default=None)
    if recall and recall != comparison.metrics[0]:
        yield from _best_on(contenders, "Best recall", recall)
    if len(timed := contenders.timed) >= 2:
        yield from _fastest(contenders, timed)
        yield from _best_balance(contenders, timed)


def _best_on(contenders: Contenders, purpose: str, measure: str) -> Iterator[Advice]:
    comparison = contenders.comparison
    sign = -1.0 if measure in comparison.lower_is_better else 1.0
    means = _column(comparison, measure) * sign
    if np.isnan(means).all():
        return
    run = _first(contenders, means)
    name = contenders.names[run]
    scores = np.array([contenders.scores(index, measure) for index in range(len(contenders.names))])
    draws = _drawn(contenders, scores) * sign
    yield Advice(
        purpose,
        name,
        f"{measure} {_with_interval(comparison, name, measure)}",
        _certainty(comparison, name, measure, share_of_wins(draws, run)),
    )


def _first(contenders: Contenders, values: Array, runs: Sequence[int] | None = None) -> int:
    """Return the index of the highest of *values*; NaN is the lowest.

    Equal values go to the run with the best mean of the leading measure, then of the next one, and
    at last to the first run. *runs* are the runs behind *values*, by default all.
    """
    comparison = contenders.comparison
    signs = [-1.0 if name in comparison.lower_is_better else 1.0 for name in comparison.metrics]
    columns = [
        sign * _column(comparison, name)
        for sign, name in zip(signs, comparison.metrics, strict=True)
    ]
    known = np.where(np.isnan(values), -np.inf, values)
    order = range(len(values)) if runs is None else runs
    means = [
        tuple(-np.inf if np.isnan(column[run]) else round(column[run], 9) for column in columns)
        for run in order
    ]
    equal = np.flatnonzero(known >= known.max() - SAME).tolist()
    return max(equal, key=means.__getitem__)


def _fastest(contenders: Contenders, timed: Sequence[str]) -> Iterator[Advice]:
    # It takes no time to return nothing.
    names = [name for name in timed if name not in contenders.contest.broken]
    if len(names) < 2:
        return
    times = _times(contenders, names)
    medians = np.nanmedian(times, axis=1)
    # Medians that are printed alike are equal.
    printed = np.array([float(milliseconds(each).text.replace(",", "")) for each in medians])
    rows = [contenders.names.index(name) for name in names]
    run = _first(contenders, -printed, rows)
    why = f"p50 {milliseconds(medians[run]).text} ms per query"
    share = share_of_wins(-_drawn_medians(contenders, times), run)
    yield Advice(FASTEST, names[run], why, _stays(share))


def _best_balance(contenders: Contenders, timed: Sequence[str]) -> Iterator[Advice]:
    comparison = contenders.comparison
    if contenders.lower_is_better:
        return
    rows = np.array([contenders.names.index(name) for name in timed])
    # A run with fewer hits than the measure needs has no quality to balance, and speed does not
    # make up for a significant loss of quality.
    worse = _significantly_worse(comparison, contenders.lead)
    means = _column(comparison, contenders.lead)[rows]
    scored = np.array(
        [run for run, name in enumerate(timed) if not np.isnan(means[run]) and name not in worse],
        dtype=int,
    )
    if len(scored) < 2:
        return
    quality = _column(comparison, contenders.lead)[rows[scored]]
    latencies = _times(contenders, timed)[scored]
    times = np.nanmedian(latencies, axis=1)
    scores = np.array([contenders.scores(row) for row in rows[scored]])
    drawn = balance(
        _drawn(contenders, scores), np.maximum(_drawn_medians(contenders, latencies), FLOOR_MS)
    )
    run = _first(contenders, balance(quality, np.maximum(times, FLOOR_MS)), rows[scored].tolist())
    yield Advice(
        BALANCE,
        timed[scored[run]],
        f"{contenders.lead} {quality[run]:.3f}, p50 {milliseconds(times[run]).text} ms per query",
        _stays(share_of_wins(drawn, run)),
    )


def _significantly_worse(comparison: Comparison, measure: str) -> set[str]:
    """Return the runs that are significantly worse on *measure* than the run with the best mean."""
    means = dict(zip(comparison.systems, _column(comparison, measure), strict=True))
    best = max(means, key=lambda name: -np.inf if np.isnan(means[name]) else means[name])
    pairs = [entry for entry in comparison.differences if entry.metric == measure]
    return {
        entry.system if entry.baseline == best else entry.baseline
        for entry in pairs
        if best in (entry.baseline, entry.system)
        and entry.is_significant
        and comparison.winner(entry) == best
    }


def _drawn(contenders: Contenders, values: Array) -> Array:
    """Return the means of ``values[run, query]`` over the same draws for whatever is compared."""
    seed = contenders.comparison.seed
    return resampled_means(values, draws=DRAWS, seed=seed, clusters=contenders.clusters)


def _drawn_medians(contenders: Contenders, times: Array) -> Array:
    """Return the medians of ``times[run, query]`` over the draws of :func:`_drawn`."""
    seed = contenders.comparison.seed
    return resampled_medians(times, draws=DRAWS, seed=seed, clusters=contenders.clusters)


def _column(comparison: Comparison, measure: str) -> Array:
    means = [comparison.mean(name, measure).mean for name in comparison.systems]
    return np.array([nan if mean is None else mean for mean in means])


def _times(contenders: Contenders, names: Sequence[str]) -> Array:
    runs = [contenders.runs[contenders.names.index(name)] for name in names]
    return np.array(comparable_ms(runs, contenders.query_ids))


def _with_interval(comparison: Comparison, name: str, measure: str) -> str:
    mean = comparison.mean(name, measure)
    text = number(mean.mean, digits=3).text
    low, high = mean.interval.low, mean.interval.high
    return text if low is None or high is None else f"{text} [{low:.3f}, {high:.3f}]"


def _certainty(comparison: Comparison, name: str, measure: str, share: float) -> str:
    """Return which runs *name* is not significantly better than, and how often it comes first.

    A run without a score on *measure* was not compared with it.
    """
    own = {
        entry.system if entry.baseline == name else entry.baseline: entry.is_significant
        and comparison.winner(entry) == name
        for entry in comparison.differences
        if entry.metric == measure
        and name in (entry.baseline, entry.system)
        and entry.difference is not None
    }
    if not own:
        return _stays(share)
    close = [other for other, told_apart in own.items() if not told_apart]
    if not close and len(own) == 1 and len(comparison.systems) > 2:
        only = f"Significantly better than {next(iter(own))}, the only run compared with it"
        return f"{only}; {_stays(share).lower()}"
    if not close:
        return f"Significantly better than every other run; {_stays(share).lower()}"
    named = join_names(close) if len(close) <= 3 else f"{len(close)} other runs"
    return f"Not significantly better than {named}; {_stays(share).lower()}"


def _stays(share: float) -> str:
    return f"First in {share:.0%} of resampled query sets."


DIGITS = 3


def headline_with_broken(comparison: Comparison, evaluations: Sequence[Evaluation]) -> str:
    """Return the outcome on the first metric, and why there is no verdict on broken runs."""
    compared = len(evaluations) - sum(each.broken for each in evaluations)
    said = headline(comparison) if compared > 1 else ""
    return " ".join(filter(None, (said, *broken_sentences(evaluations))))


def headline(comparison: Comparison) -> str:
    """Return the outcome on the first metric in one sentence; empty where nothing was compared."""
    metric = comparison.metrics[0]
    entries = [entry for entry in comparison.differences if entry.metric == metric]
    scored = [entry for entry in entries if entry.n]
    if not entries:
        return ""
    if not scored:
        return f"No query has a score of two runs on {metric}."
    if len(scored) == 1:
        return _pair(comparison, scored[0])
    if comparison.pairs == "baseline":
        return _against_baseline(comparison, scored)
    return _best(comparison, scored)


def _pair(comparison: Comparison, entry: Difference) -> str:
    if entry.ties == entry.n:
        names = f"{entry.baseline} and {entry.system}"
        return f"{names} have the same {entry.metric} on every query."
    better = comparison.winner(entry) or entry.system
    worse = entry.baseline if better == entry.system else entry.system
    if not entry.is_significant:
        pair = f"{better} and {worse} on {entry.metric}"
        amount = numbers(comparison, entry, of=better)
        return f"No significant difference between {pair} ({amount})."
    means = [comparison.mean(name, entry.metric).mean for name in (better, worse)]
    values = " against ".join(number(mean, digits=entry.digits).text for mean in means)
    return f"{better} is significantly better than {worse} on {entry.metric}: {values}."


def _against_baseline(comparison: Comparison, entries: Sequence[Difference]) -> str:
    baseline, metric = comparison.baseline, entries[0].metric
    better = [
        entry
        for entry in entries
        if entry.is_significant and comparison.winner(entry) == entry.system
    ]
    if not better:
        return f"No run is significantly better than {baseline} on {metric}."
    names = join_names(first_few([entry.system for entry in better]))
    verb = "is" if len(better) == 1 else "are"
    return f"{names} {verb} significantly better than {baseline} on {metric}."


def _best(comparison: Comparison, entries: Sequence[Difference]) -> str:
    metric = entries[0].metric
    lower = metric in comparison.lower_is_better
    leaders = comparison.leaders(metric)
    best = leaders[0]
    own = [entry for entry in entries if best in (entry.baseline, entry.system)]
    mean = number(comparison.mean(best, metric).mean, digits=DIGITS).text
    if all(entry.ties == entry.n for entry in own):
        return f"All {len(own) + 1} runs have the same {metric} on every query ({mean})."
    way = ("lowest", "lower") if lower else ("highest", "higher")
    if len(leaders) > 1:
        return f"{join_names(first_few(leaders))} have the {way[0]} {metric} ({mean})."
    close = [
        entry.system if entry.baseline == best else entry.baseline
        for entry in own
        if not entry.is_significant
    ]
    if not close:
        return (
            f"{best} is significantly better than all {len(own)} other runs on {metric} ({mean})."
        )
    return (
        f"{best} has the {way[0]} {metric} ({mean}), but not significantly {way[1]} than "
        f"{join_names(first_few(close))}."
    )
