"""Coverage and error rates of the statistics of score files, by simulation.

Trials: 100 queries with chances of their own, three trials each, of two systems that are equal. The
mean of the trials of a query is its score; beside it stands the mistake to count every trial as a
query. Clusters: 30 groups of five queries that share a level. Zeros and ones: McNemar's exact test,
Wilson's and the exact interval. Tasks: three tasks of 20, 60 and 200 queries. Ranks: 15 systems, of
which some are equal; how often all rank intervals hold at once. Margin: how often a system that is
worse by the margin is called not worse.

    python benchmarks/score_statistics.py [--simulations N] [--draws N] [--seed N]
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

# Not this folder itself: statistics.py would hide the standard library's module.
sys.path[0] = str(Path(__file__).parent / "support")

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from karat.extensions.scores.leaderboard import rank_rows  # noqa: E402
from karat.extensions.scores.proportions import change, proportion  # noqa: E402
from karat.extensions.scores.tasks import macro_mean  # noqa: E402
from karat.scoring.margin import MarginOutcome, margin_outcome  # noqa: E402
from karat.scoring.stats import compare  # noqa: E402

Scores = NDArray[np.float64]
QUERIES, TRIALS, GROUPS, PER_GROUP = 100, 3, 30, 5
TASKS = ((20, 0.3), (60, 0.6), (200, 0.8))
# Three groups of equal systems, and some between.
LEVELS = (0.5, 0.5, 0.5, 0.5, 0.55, 0.6, 0.6, 0.6, 0.6, 0.65, 0.7, 0.75, 0.8, 0.8, 0.8)
MARGIN = 0.05


class Rate(NamedTuple):
    """How often something happened in *of* simulations, and how often it should."""

    what: str
    count: int
    of: int
    allowed: str

    @property
    def row(self) -> str:
        """Return the rate with its standard error as a row of Markdown."""
        share = self.count / self.of
        error = math.sqrt(share * (1 - share) / self.of)
        return f"| {self.what} | {share:.3f} ± {error:.3f} | {self.allowed} |"


class Settings(NamedTuple):
    """How many simulations, resamples, and which random numbers."""

    simulations: int
    draws: int
    rng: np.random.Generator

    def count(self, happens: Callable[[], tuple[bool, ...]]) -> list[int]:
        """Return how often each of several things happens."""
        return np.array([happens() for _ in range(self.simulations)]).sum(axis=0).tolist()


def pair(
    scores: Scores, settings: Settings, truth: float, clusters: list[str] | None = None
) -> tuple[bool, bool]:
    """Return whether two equal systems are called different, and whether the interval holds."""
    found = compare(
        scores[:, :, None],
        systems=["a", "b"],
        metrics=["m"],
        bounds=(0, 1),
        draws=settings.draws,
        seed=int(settings.rng.integers(1 << 30)),
        clusters=clusters,
    )
    interval = found.mean("a", "m").interval
    low, high = interval.low, interval.high
    return found.differences[0].is_significant, low is not None and low <= truth <= (high or 1.0)


def trials(settings: Settings) -> Iterator[Rate]:
    """Yield the rates with trials as one score, and as queries of their own."""
    rng, n = settings.rng, settings.simulations

    def happens() -> tuple[bool, ...]:
        chances = rng.beta(0.8, 0.8, (2, QUERIES, 1))
        # Two systems, equal over all queries, that differ on each.
        hits = (rng.random((2, QUERIES, TRIALS)) < chances).astype(float)
        return (*pair(hits.mean(axis=2), settings, 0.5), *pair(hits.reshape(2, -1), settings, 0.5))

    counts = settings.count(happens)
    yield Rate("trials averaged: equal systems called different", counts[0], n, "<= 0.06")
    yield Rate("trials averaged: interval holds the mean", counts[1], n, "0.94 to 0.97")
    yield Rate(
        "trials as queries: equal systems called different", counts[2], n, "wrong, for contrast"
    )
    yield Rate("trials as queries: interval holds the mean", counts[3], n, "wrong, for contrast")


def clusters(settings: Settings) -> Iterator[Rate]:
    """Yield the rates with groups of dependent queries, declared and not."""
    rng, n = settings.rng, settings.simulations
    labels = [f"g{group}" for group in range(GROUPS) for _ in range(PER_GROUP)]

    def happens() -> tuple[bool, ...]:
        level = np.repeat(rng.normal(0, 0.15, (2, GROUPS)), PER_GROUP, axis=1)
        scores = np.clip(0.5 + level + rng.normal(0, 0.1, (2, GROUPS * PER_GROUP)), 0, 1)
        return (*pair(scores, settings, 0.5, labels), *pair(scores, settings, 0.5))

    counts = settings.count(happens)
    yield Rate("clusters declared: equal systems called different", counts[0], n, "<= 0.06")
    yield Rate("clusters declared: interval holds the mean", counts[1], n, "0.94 to 0.97")
    yield Rate(
        "clusters ignored: equal systems called different", counts[2], n, "wrong, for contrast"
    )
    yield Rate("clusters ignored: interval holds the mean", counts[3], n, "wrong, for contrast")


def zeros_and_ones(settings: Settings) -> Iterator[Rate]:
    """Yield the rates of McNemar's test and of the two intervals of a share."""
    rng, n = settings.rng, settings.simulations * 10
    share = 0.9
    wrong = wilson = exact = 0
    for _ in range(n):
        hits = (rng.random((2, QUERIES)) < share).astype(float)
        wrong += change(hits[0], hits[1]).p <= 0.05
        known = proportion(hits[0], 0.95)
        if known:
            wilson += known.wilson[0] <= share <= known.wilson[1]
            exact += known.exact[0] <= share <= known.exact[1]
    yield Rate("McNemar: equal systems called different", wrong, n, "<= 0.05")
    yield Rate("Wilson: interval holds a share of 0.9", wilson, n, "about 0.95")
    yield Rate("exact: interval holds a share of 0.9", exact, n, ">= 0.95")


def tasks(settings: Settings) -> Iterator[Rate]:
    """Yield how often the interval of the macro mean holds it."""
    rng, n = settings.rng, settings.simulations * 10
    truth = sum(share for _, share in TASKS) / len(TASKS)
    held = wrong = 0
    for _ in range(n):
        drawn = [(rng.random((2, size)) < share).astype(float) for size, share in TASKS]
        macro = macro_mean([scores[0].tolist() for scores in drawn], 0.95)
        if macro and macro.interval.low is not None and macro.interval.high is not None:
            held += macro.interval.low <= truth <= macro.interval.high
        paired = macro_mean([(scores[0] - scores[1]).tolist() for scores in drawn], 0.95)
        wrong += bool(paired and paired.p is not None and paired.p <= 0.05)
    yield Rate("macro mean: interval holds it", held, n, "0.94 to 0.97")
    yield Rate("macro mean: equal systems called different", wrong, n, "<= 0.06")


def ranks(settings: Settings) -> Iterator[Rate]:
    """Yield how often all rank intervals hold at once, and how wide they are."""
    rng, n = settings.rng, max(settings.simulations // 5, 1)
    names = [f"s{number}" for number in range(len(LEVELS))]
    held, width = 0, 0.0
    for _ in range(n):
        difficulty = rng.normal(0, 0.15, 200)
        chances = np.clip(np.array(LEVELS)[:, None] + difficulty, 0, 1)
        scores = (rng.random(chances.shape) < chances).astype(float)
        truth = chances.mean(axis=1)
        found = compare(
            scores[:, :, None],
            systems=names,
            metrics=["m"],
            pairs="all",
            bounds=(0, 1),
            draws=settings.draws,
            seed=int(rng.integers(1 << 30)),
        )
        rows = rank_rows(found, "m")
        good = True
        for row in rows:
            own = truth[names.index(row.system)]
            first, last = 1 + int((truth > own).sum()), len(names) - int((truth < own).sum())
            good &= row.best <= first and last <= row.worst
        held += good
        width += sum(row.worst - row.best + 1 for row in rows) / len(rows)
    yield Rate("ranks: all 15 intervals hold at once", held, n, ">= 0.95")
    yield Rate(f"ranks: mean width {width / n:.1f} of 15 ranks", n, n, "-")


def margin(settings: Settings) -> Iterator[Rate]:
    """Yield how often a system that is worse by the margin is called not worse, or equivalent."""
    rng, n = settings.rng, settings.simulations

    def happens() -> tuple[bool, ...]:
        old = rng.beta(4, 2, 400)
        new = old - MARGIN + rng.normal(0, 0.1, 400)
        found = compare(
            np.stack([old, new])[:, :, None],
            systems=["old", "new"],
            metrics=["m"],
            draws=settings.draws,
            seed=int(rng.integers(1 << 30)),
        )
        outcome = margin_outcome(found.differences[0], MARGIN)
        return (outcome in (MarginOutcome.NOT_WORSE, MarginOutcome.EQUIVALENT),)

    (count,) = settings.count(happens)
    yield Rate("margin: a system worse by exactly the margin called not worse", count, n, "<= 0.03")


def main() -> None:
    """Print a table of all rates."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--draws", type=int, default=1_999)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    settings = Settings(given.simulations, given.draws, np.random.default_rng(given.seed))
    print("| what | rate ± its standard error | allowed |\n|---|---:|---:|")
    for part in (trials, clusters, zeros_and_ones, tasks, ranks, margin):
        for rate in part(settings):
            print(rate.row, flush=True)


if __name__ == "__main__":
    main()
