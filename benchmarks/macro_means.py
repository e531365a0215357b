"""Coverage of the intervals over several corpora, by simulation.

Each corpus has 5 to 100 queries, a difficulty of its own, and a gain of its own by the second of
two engines. Scores are reciprocal ranks (0, 1/10, 1/5, 1/3, 1/2 or 1) or hits (0 or 1). The worlds
differ in the spread of difficulties; in the *skewed* one, three corpora of ten gain much and the
others nothing. For 2 to 40 corpora: how often the interval of the macro mean, and that of the macro
difference, holds the truth: that of all corpora like these where the corpora are a sample, and that
of these corpora where they are fixed. Equal engines: how often a sample of corpora calls two
engines different whose gains add up to nothing. Micro means resample whole corpora.

    python benchmarks/macro_means.py [--simulations N] [--draws N] [--seed N]
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

from karat.extensions.scores.tasks import LEAST_TASKS, MacroMean, macro_mean  # noqa: E402
from karat.model.comparison import Interval  # noqa: E402
from karat.scoring.stats import compare  # noqa: E402

Numbers = NDArray[np.float64]
CORPORA = (2, 3, 4, 5, 6, 8, 10, 15, 20, 40)
FEWEST, MOST = 5, 100
RANKS, EDGES = np.array([0, 0.1, 0.2, 1 / 3, 0.5, 1]), np.array([-1, -0.6, -0.2, 0.2, 0.7])
# The share of the variance of a query that both engines share.
SHARED = 0.8
LEVEL = 0.95
# A grid of levels, for the expected score at each.
GRID = np.linspace(-6, 6, 481)
# Corpora whose mean stands for that of all.
POPULATION = 200_000
# Samples of corpora behind a detectable difference.
DRAWN = 200


class World(NamedTuple):
    """How corpora differ: the spread of their difficulties, their gains, and how hits score."""

    name: str
    spread: float
    gains: Callable[[np.random.Generator, int], Numbers]
    score: Callable[[Numbers], Numbers]


def reciprocal_ranks(levels: Numbers) -> Numbers:
    """Return a reciprocal rank for each level of success."""
    return RANKS[np.searchsorted(EDGES, levels)]


def hits(levels: Numbers) -> Numbers:
    """Return 1 for a success, else 0."""
    return (levels > 0).astype(float)


def even(centre: float, spread: float) -> Callable[[np.random.Generator, int], Numbers]:
    """Return normal gains."""
    return lambda rng, count: rng.normal(centre, spread, count)


def skewed(rng: np.random.Generator, count: int) -> Numbers:
    """Return gains of which three of ten are large and the others 0."""
    return np.where(rng.random(count) < 0.3, 0.5, 0.0)


WORLDS = (
    World("ranks", 0.6, even(0.1, 0.15), reciprocal_ranks),
    World("ranks, alike corpora", 0.2, even(0.1, 0.15), reciprocal_ranks),
    World("hits", 0.9, even(0.1, 0.15), hits),
    World("ranks, skewed gains", 0.6, skewed, reciprocal_ranks),
)


class Truth(NamedTuple):
    """The expected score at each level of the grid, and the macro means of all corpora."""

    expected: Numbers
    mean: float
    gain: float

    @classmethod
    def of(cls, world: World, rng: np.random.Generator) -> "Truth":
        """Return the truth of *world*, by as many corpora as stand for all."""
        noise = rng.normal(0, 1, POPULATION)
        expected = np.array([world.score(level + noise).mean() for level in GRID])
        levels = rng.normal(0, world.spread, POPULATION)
        before = np.interp(levels, GRID, expected)
        after = np.interp(levels + world.gains(rng, POPULATION), GRID, expected)
        return cls(expected, float(before.mean()), float((after - before).mean()))

    def at(self, levels: Numbers) -> Numbers:
        """Return the expected score of a corpus at each of *levels*."""
        return np.interp(levels, GRID, self.expected)


class Sample(NamedTuple):
    """The scores of two engines on each corpus, and the truth about these corpora."""

    before: list[Numbers]
    after: list[Numbers]
    mean: float
    gain: float

    @classmethod
    def draw(cls, world: World, truth: Truth, corpora: int, rng: np.random.Generator) -> "Sample":
        """Return as many *corpora* of *world*."""
        levels, gains = rng.normal(0, world.spread, corpora), world.gains(rng, corpora)
        sizes = np.exp(rng.uniform(math.log(FEWEST), math.log(MOST + 1), corpora)).astype(int)
        before, after = [], []
        for level, gain, size in zip(levels, gains, sizes, strict=True):
            shared = level + math.sqrt(SHARED) * rng.normal(size=size)
            own = math.sqrt(1 - SHARED) * rng.normal(size=(2, size))
            before.append(world.score(shared + own[0]))
            after.append(world.score(shared + gain + own[1]))
        gained = truth.at(levels + gains) - truth.at(levels)
        return cls(before, after, float(truth.at(levels).mean()), float(gained.mean()))

    @property
    def differences(self) -> list[Numbers]:
        """Return what the second engine gains on each query."""
        return [after - before for before, after in zip(self.before, self.after, strict=True)]


def holds(known: MacroMean | Interval | None, truth: float) -> bool:
    """Return whether the interval holds *truth*."""
    interval = known.interval if isinstance(known, MacroMean) else known
    if interval is None or interval.low is None or interval.high is None:
        return False
    return interval.low <= truth <= interval.high


def macro(tasks: list[Numbers], *, sampled: bool) -> MacroMean | None:
    """Return the macro mean of arrays of scores."""
    return macro_mean([scores.tolist() for scores in tasks], LEVEL, sampled=sampled)


def simulate(
    world: World, corpora: int, simulations: int, rng: np.random.Generator, truth: Truth
) -> Numbers:
    """Return the rates: sampled mean and difference, fixed mean and difference, false alarms."""
    counts = np.zeros(5)
    for _ in range(simulations):
        drawn = Sample.draw(world, truth, corpora, rng)
        change = macro(drawn.differences, sampled=True)
        # Equal engines over all corpora: the gains less their mean over all.
        none = macro([each - truth.gain for each in drawn.differences], sampled=True)
        counts += (
            holds(macro(drawn.before, sampled=True), truth.mean),
            holds(change, truth.gain),
            holds(macro(drawn.before, sampled=False), drawn.mean),
            holds(macro(drawn.differences, sampled=False), drawn.gain),
            none is not None and none.p is not None and none.p <= 1 - LEVEL,
        )
    return counts / simulations


def micro(
    world: World,
    corpora: int,
    *,
    simulations: int,
    draws: int,
    rng: np.random.Generator,
    truth: Truth,
) -> tuple[float, float]:
    """Return how often the intervals of the micro mean and its difference hold the truth.

    The number of queries of a corpus does not depend on its difficulty, so that the micro mean of
    all corpora is their macro mean.
    """
    counts = np.zeros(2)
    for _ in range(simulations):
        drawn = Sample.draw(world, truth, corpora, rng)
        labels = [str(n) for n, scores in enumerate(drawn.before) for _ in scores]
        cube = np.array([np.concatenate(drawn.before), np.concatenate(drawn.after)])
        known = compare(
            cube[:, :, None],
            systems=["a", "b"],
            metrics=["m"],
            bounds=(0, 1),
            draws=draws,
            seed=int(rng.integers(1 << 30)),
            clusters=labels,
        )
        mean, change = known.means[0].interval, known.differences[0].interval
        counts += holds(mean, truth.mean), holds(change, truth.gain)
    share = counts / simulations
    return float(share[0]), float(share[1])


def detectable(world: World, corpora: int, truth: Truth, rng: np.random.Generator) -> float:
    """Return the macro difference that a sample of *corpora* calls significant with 80 % power.

    By the mean standard error of the difference: (t of the test + t of the power) errors.
    """
    from karat.scoring.stats.moments import t_quantile

    errors = []
    for _ in range(DRAWN):
        drawn = Sample.draw(world, truth, corpora, rng)
        means = np.array([each.mean() for each in drawn.differences])
        errors.append(means.std(ddof=1) / math.sqrt(corpora))
    reach = t_quantile((1 + LEVEL) / 2, corpora - 1) + t_quantile(0.8, corpora - 1)
    return reach * float(np.mean(errors))


def report(simulations: int, draws: int, seed: int) -> Iterator[str]:
    """Yield the lines of the result in Markdown."""
    rng = np.random.default_rng(seed)
    yield (
        f"{simulations:,} simulations (a tenth for micro means, with {draws:,} draws), "
        f"seed {seed}, at 95 %. Karat takes corpora as a sample from {LEAST_TASKS} on."
    )
    yield ""
    yield (
        "| world | corpora | sample: mean | sample: difference | false alarms | fixed: mean | "
        "fixed: difference |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    truths = {world.name: Truth.of(world, rng) for world in WORLDS}
    for world in WORLDS:
        for corpora in CORPORA:
            rates = simulate(world, corpora, simulations, rng, truths[world.name])
            mean, change, fixed, fixed_change, alarms = (f"{rate:.3f}" for rate in rates)
            yield (
                f"| {world.name} | {corpora} | {mean} | {change} | {alarms} | {fixed} | "
                f"{fixed_change} |"
            )
    yield ""
    yield "| world | corpora | micro mean | micro difference |"
    yield "|---|---:|---:|---:|"
    for world in WORLDS:
        for corpora in (LEAST_TASKS, 10, 20, 40):
            rates_of_micro = micro(
                world,
                corpora,
                simulations=simulations // 10,
                draws=draws,
                rng=rng,
                truth=truths[world.name],
            )
            shares = " | ".join(f"{rate:.3f}" for rate in rates_of_micro)
            yield f"| {world.name} | {corpora} | {shares} |"
    yield ""
    yield "| world | corpora | difference that is detected with a power of 80 % |"
    yield "|---|---:|---:|"
    for world in WORLDS:
        for corpora in (LEAST_TASKS, 10, 20, 40):
            size = detectable(world, corpora, truths[world.name], rng)
            yield f"| {world.name} | {corpora} | {size:.3f} |"


def main() -> None:
    """Print the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=2_000)
    parser.add_argument("--draws", type=int, default=999)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for line in report(given.simulations, given.draws, given.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()
