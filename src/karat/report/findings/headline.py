"""The outcome of a comparison in one sentence; the verdict with all numbers stands below it."""

from collections.abc import Sequence

from karat.model.comparison import Comparison, Difference
from karat.report.table import number
from karat.system.words import first_few, join_names

__all__ = ["headline"]

DIGITS = 3


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
    names = f"{entry.baseline} and {entry.system}"
    if entry.ties == entry.n:
        return f"{names} have the same {entry.metric} on every query."
    if not comparison.significant(entry):
        change = number(entry.difference, signed=True, digits=DIGITS).text
        return f"No significant difference between {names} on {entry.metric} ({change})."
    better = comparison.winner(entry) or entry.system
    worse = entry.baseline if better == entry.system else entry.system
    means = [comparison.mean(name, entry.metric).mean for name in (better, worse)]
    values = " against ".join(number(mean, digits=DIGITS).text for mean in means)
    return f"{better} is significantly better than {worse} on {entry.metric}: {values}."


def _against_baseline(comparison: Comparison, entries: Sequence[Difference]) -> str:
    baseline, metric = comparison.systems[0], entries[0].metric
    better = [
        entry
        for entry in entries
        if comparison.significant(entry) and comparison.winner(entry) == entry.system
    ]
    if not better:
        return f"No run is significantly better than {baseline} on {metric}."
    names = join_names(first_few([entry.system for entry in better]))
    verb = "is" if len(better) == 1 else "are"
    return f"{names} {verb} significantly better than {baseline} on {metric}."


def _best(comparison: Comparison, entries: Sequence[Difference]) -> str:
    metric = entries[0].metric
    lower = metric in comparison.lower_is_better
    means = {
        entry.system: entry.mean
        for entry in comparison.means
        if entry.metric == metric and entry.mean is not None
    }
    best = (min if lower else max)(means, key=means.__getitem__)
    own = [entry for entry in entries if best in (entry.baseline, entry.system)]
    close = [
        entry.system if entry.baseline == best else entry.baseline
        for entry in own
        if not comparison.significant(entry)
    ]
    mean = number(means[best], digits=DIGITS).text
    if all(entry.ties == entry.n for entry in own):
        return f"All {len(means)} runs have the same {metric} on every query ({mean})."
    if not close:
        return (
            f"{best} is significantly better than all {len(own)} other runs on {metric} ({mean})."
        )
    way = ("lowest", "lower") if lower else ("highest", "higher")
    return (
        f"{best} has the {way[0]} {metric} ({mean}), but not significantly {way[1]} than "
        f"{join_names(first_few(close))}."
    )
