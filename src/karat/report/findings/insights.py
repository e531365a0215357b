"""What the runs together say: the hardest slices, and what each option of the engines does."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from karat.model.comparison import Comparison
from karat.report.findings.record import Findings
from karat.stats import bootstrap_intervals

__all__ = ["insights"]

# The name of an engine is no option: what it does is what the leaderboard says.
ENGINE = "engine"
# A slice of fewer queries says little about its kind.
FEWEST_QUERIES = 5


def insights(findings: Findings) -> tuple[str, ...]:
    """Return one sentence per tag about its hardest value, and per option that the runs vary."""
    return (*_hardest(findings), *_options(findings))


def _hardest(findings: Findings) -> Iterator[str]:
    if findings.lower_is_better:
        return
    for tag, values in findings.contest.slices.items():
        means = {
            value: _mean(comparison)
            for value, comparison in values.items()
            if comparison.queries >= FEWEST_QUERIES and not np.isnan(_mean(comparison))
        }
        if len(means) < 2:
            continue
        hardest = min(means, key=means.__getitem__)
        comparison = values[hardest]
        best = max(comparison.means, key=lambda mean: mean.mean or 0.0)
        text = (
            f"Hardest {tag}: {hardest}, {findings.lead} {means[hardest]:.3f} over all runs and "
            f"{comparison.queries} queries"
        )
        if best.interval.low is not None:
            text += (
                f"; the best run there, {best.system}, has {best.mean:.3f} "
                f"[{best.interval.low:.3f}, {best.interval.high:.3f}]"
            )
        yield f"{text}."


class _Level(NamedTuple):
    """The runs of one value of an option: their mean score on each query."""

    value: str
    scores: "np.ndarray[tuple[int], np.dtype[np.float64]]"


def _options(findings: Findings) -> Iterator[str]:
    """Yield what each option does, by the runs that are alike in all other options."""
    settings = [_flat(measured.run.metadata.get("engine")) for measured in findings.runs]
    for option in dict.fromkeys(key for each in settings for key in each if key != ENGINE):
        alike: dict[frozenset[tuple[str, str]], dict[str, int]] = {}
        for run, each in enumerate(settings):
            if option in each:
                others = frozenset(pair for pair in each.items() if pair[0] != option)
                alike.setdefault(others, {})[each[option]] = run
        values = set.union(set(), *alike.values())
        complete = [runs for runs in alike.values() if len(runs) == len(values) > 1]
        if complete:
            levels = [
                _Level(value, np.mean([findings.scores(runs[value]) for runs in complete], axis=0))
                for value in complete[0]
            ]
            yield _effect(option, levels, findings)


def _effect(option: str, levels: list[_Level], findings: Findings) -> str:
    sign = -1 if findings.lower_is_better else 1
    levels = sorted(levels, key=lambda level: -sign * np.nanmean(level.scores))
    best, second = levels[:2]
    comparison = findings.contest.comparison
    (interval,) = bootstrap_intervals(
        (best.scores - second.scores)[:, None],
        level=comparison.level,
        draws=comparison.draws,
        seed=comparison.seed,
    )
    change = float(np.nanmean(best.scores - second.scores))
    if not change:
        return f"{option}: no difference between {best.value} and {second.value}."
    text = f"{option}: {best.value} is best, {change:+.3f} {findings.lead} against {second.value}"
    if interval.low is None or interval.high is None:
        return f"{text}."
    real = interval.low > 0 or interval.high < 0
    verdict = "beyond the noise" if real else "inside the noise"
    return f"{text} [{interval.low:+.3f}, {interval.high:+.3f}], {verdict}."


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    """Return the leaves of a specification by dotted name.

    >>> _flat({"name": "rerank", "options": {"of": "bm25", "depth": 50}})
    {'engine': 'rerank', 'of': 'bm25', 'depth': '50'}
    """
    if not isinstance(value, Mapping):
        return {} if value is None else {prefix or ENGINE: str(value)}
    found: dict[str, str] = {}
    for key, entry in value.items():
        name = {"name": ENGINE, "options": ""}.get(key, key)
        found |= _flat(entry, f"{prefix}.{name}".strip("."))
    return found


def _mean(comparison: Comparison) -> float:
    known = [mean.mean for mean in comparison.means if mean.mean is not None]
    return float(np.mean(known)) if known else float("nan")
