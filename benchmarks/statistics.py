"""Error rates and power of the default tests, by simulation.

Five systems, all pairs, three kinds of scores, 50 and 127 queries. False alarm: any pair called
different although no system is better than another (family-wise error; 0.06 is the limit allowed).
Power: the share of the four pairs with the one better system that are called different. Beside the
default (step-down maxT, half sign flips and half resamples) stand the same over sign flips alone,
Holm's correction of paired t tests, uncorrected t tests, and with --tukey randomised Tukey HSD.
Coverage: how often the 95 % interval of a mean contains the true mean. Every rate has its standard
error; another --seed shows how reliable a run is.

    python benchmarks/statistics.py [--simulations N] [--draws N] [--seed N] [--tukey N] [--speed]
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.scoring.stats import bootstrap_intervals, compare, randomised_tukey
from karat.scoring.stats.distributions import t_two_sided
from karat.scoring.stats.signflip import flip_sums, holm, resample_halves, step_down

ALPHA = 0.05
LIMIT = 0.06
DEFAULT, REFERENCE = "maxT (default)", "Holm, t"
# Simulations that share their flips and resamples.
TOGETHER = 20
SYSTEMS = 5
PAIRS = list(combinations(range(SYSTEMS), 2))
BEST = [place for place, pair in enumerate(PAIRS) if SYSTEMS - 1 in pair]

Scores = NDArray[np.float64]
Make = Callable[[np.random.Generator, int, float], Scores]


def reciprocal_rank(rng: np.random.Generator, n: int, gain: float) -> Scores:
    """Return ``[query, system]`` scores such as RR@10: 0 or 1/rank, easy and hard queries.

    Systems share a query's difficulty and differ by noise; the last one is better by *gain* in
    the latent quality that decides the rank.
    """
    latent = rng.normal(0.0, 1.0, (n, 1)) + rng.normal(0.0, 0.8, (n, SYSTEMS))
    latent[:, -1] += gain
    rank = np.ceil(np.exp(1.2 - 1.3 * latent))
    scores: Scores = np.where(rank <= 10, 1.0 / np.maximum(rank, 1.0), 0.0)
    return scores


def skewed(rng: np.random.Generator, n: int, gain: float) -> Scores:
    """Return scores whose differences are skewed: mostly small, for few queries a system fails.

    Systems of unequal noise and equal mean, so that differences of a pair are not symmetric either:
    the null hypothesis of equal means holds, the one of interchangeable systems does not.
    """
    losses = rng.exponential(1.0, (n, SYSTEMS)) * np.array([0.05, 0.05, 0.1, 0.1, 0.1])
    scores: Scores = (
        0.7 + rng.normal(0.0, 0.1, (n, 1)) - losses + np.array([0.05, 0.05, 0.1, 0.1, 0.1])
    )
    scores[:, -1] += gain
    return scores


def rare_failures(rng: np.random.Generator, n: int, gain: float) -> Scores:
    """Return scores of which two systems fail on 6 % of the queries and make up for it elsewhere.

    Means are equal. Shown as a warning and not checked against the limit: with three failures in a
    sample of fifty queries no test of means holds its level.
    """
    scores: Scores = 0.7 + rng.normal(0.0, 0.1, (n, 1)) + rng.normal(0.0, 0.05, (n, SYSTEMS))
    scores[:, :2] += np.where(rng.random((n, 2)) < 0.06, -0.47, 0.03)
    scores[:, -1] += gain
    return scores


class Cell(NamedTuple):
    """One kind of scores, the gain of the better system by n, and whether the goals apply."""

    name: str
    make: Make
    gains: dict[int, float]
    judged: bool = True


CELLS = [
    Cell("RR@10-like", reciprocal_rank, {50: 0.45, 127: 0.3}),
    Cell("skewed", skewed, {50: 0.06, 127: 0.04}),
    Cell("rare failures", rare_failures, {50: 0.06, 127: 0.04}, judged=False),
]


def pair_differences(scores: Scores) -> Scores:
    """Return ``[query, pair]`` differences."""
    return np.stack([scores[:, b] - scores[:, a] for a, b in PAIRS], axis=1)


def t_ps(differences: Scores) -> list[float]:
    """Return the p value of the paired t test of each column."""
    n = len(differences)
    mean, sd = differences.mean(axis=0), differences.std(axis=0, ddof=1)
    t = np.where(sd > 0, mean / np.where(sd > 0, sd, 1.0) * math.sqrt(n), 0.0)
    return [t_two_sided(value, n - 1) for value in t.tolist()]


def by_procedure(
    samples: list[Scores], *, draws: int, seed: int, tukey: int
) -> dict[str, list[list[float]]]:
    """Return the p values of all pairs of each sample, by each procedure; Tukey for the first ones.

    Samples share their flips and resamples, which saves most of the time; each is still tested on
    its own. What they share makes the true standard errors a little larger than those printed.
    """
    differences = [pair_differences(scores) for scores in samples]
    columns = np.concatenate(differences, axis=1)
    flips = flip_sums(columns, draws=draws, seed=seed)
    halves = resample_halves(flips, columns - columns.mean(axis=0), seed=seed)
    families = [
        range(start, start + len(PAIRS)) for start in range(0, columns.shape[1], len(PAIRS))
    ]
    plain = [t_ps(one) for one in differences]
    shuffled = [randomised_tukey(one, draws=draws, seed=seed) for one in samples[:tukey]]
    return {
        DEFAULT: [step_down(flips, family, halves) for family in families],
        "maxT, flips only": [step_down(flips, family) for family in families],
        REFERENCE: [holm(ps) for ps in plain],
        "uncorrected t": plain,
        "random. Tukey": [[float(p[pair]) for pair in PAIRS] for p in shuffled],
    }


def rates(make: Make, n: int, gain: float, options: argparse.Namespace) -> dict[str, list[float]]:
    """Return one number per procedure and simulation: false alarm (0, 1), or detected share."""
    rng = np.random.default_rng([options.seed, n, round(gain * 1_000)])
    found: dict[str, list[float]] = {}
    for start in range(0, options.simulations, TOGETHER):
        samples = [make(rng, n, gain) for _ in range(min(TOGETHER, options.simulations - start))]
        tukey = max(0, options.tukey - start)
        ps = by_procedure(samples, draws=options.draws, seed=start, tukey=tukey)
        for name, families in ps.items():
            for values in families:
                alarms = [p <= ALPHA for p in values]
                share = float(np.mean([alarms[place] for place in BEST]))
                found.setdefault(name, []).append(share if gain else float(any(alarms)))
    return found


def coverage(make: Make, n: int, options: argparse.Namespace) -> tuple[float, float]:
    """Return how often the interval of a mean holds the true mean, and its standard error."""
    rng = np.random.default_rng([options.seed, n, 7])
    truth = np.mean([make(rng, 20_000, 0.0)[:, 0].mean() for _ in range(50)])
    count = max(1, options.simulations // 4)
    hits = 0
    # Fifty samples side by side share their resamples; each interval is still its own sample's.
    for start in range(0, count, 50):
        many = [make(rng, n, 0.0)[:, 0] for _ in range(min(50, count - start))]
        intervals = bootstrap_intervals(np.stack(many, axis=1), draws=1_999, seed=start)
        hits += sum((i.low or 0.0) <= truth <= (i.high or 0.0) for i in intervals)
    rate = hits / count
    return rate, math.sqrt(rate * (1 - rate) / count)


def speed() -> None:
    """Print the CPU time of a full comparison: 5 systems, 6 metrics, 127 queries, 9,999 draws."""
    rng = np.random.default_rng(0)
    values = np.stack([reciprocal_rank(rng, 127, 0.3) for _ in range(6)]).transpose(2, 1, 0)
    values[:, :, 0] = values[:, :, 0] > 0
    times = []
    for _ in range(15):
        start = time.process_time()
        compare(values, systems="ABCDE", metrics="uvwxyz", bounds=(0, 1))
        times.append((time.process_time() - start) * 1e3)
    print(f"\nFull comparison: {min(times):.1f} ms CPU at best, {sorted(times)[7]:.1f} ms median")


def main() -> int:
    """Print the tables; return 1 if the default's false alarms or power miss their goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=12_000, help="per cell")
    parser.add_argument("--draws", type=int, default=1_999, help="draws of each test")
    parser.add_argument("--seed", type=int, default=0, help="of the simulated scores")
    parser.add_argument(
        "--tukey", type=int, default=0, help="simulations with Tukey, which is slow"
    )
    parser.add_argument("--speed", action="store_true", help="time a comparison as well")
    options = parser.parse_args()
    missed = False
    print("| scores | n | measure | procedure | rate | standard error |\n|---|---|---|---|---|---|")
    for cell in CELLS:
        for n in (50, 127):
            for measure, gain in (("false alarms", 0.0), ("power", cell.gains[n])):
                found = rates(cell.make, n, gain, options)
                means = {name: float(np.mean(numbers)) for name, numbers in found.items()}
                for name, numbers in found.items():
                    error = float(np.std(numbers)) / math.sqrt(len(numbers))
                    row = (
                        f"{cell.name} | {n} | {measure} | {name} | {means[name]:.3f} | {error:.4f}"
                    )
                    print(f"| {row} |", flush=True)
                ours = means[DEFAULT]
                wrong = ours < means[REFERENCE] if gain else ours > LIMIT
                missed |= wrong and cell.judged
            rate, error = coverage(cell.make, n, options)
            print(f"| {cell.name} | {n} | coverage | bootstrap-t | {rate:.3f} | {error:.4f} |")
    if options.speed:
        speed()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
