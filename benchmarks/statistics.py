"""Error rates and power of the default tests, by simulation.

Five systems, all pairs, three kinds of scores, 50 and 127 queries. False alarm: any pair called
different although no system is better than another (family-wise error; 0.06 is the limit allowed).
Power: the share of the four pairs with the one better system that are called different. Beside the
default (step-down maxT, half sign flips and half resamples) stand the same over sign flips alone,
Holm's correction of paired t tests, uncorrected t tests, and with --tukey randomised Tukey HSD.
Coverage: how often the 95 % interval of a mean contains the true mean. Every rate has its standard
error; another --seed shows how reliable a run is.

Intervals of 300 to 7,000 queries: the distance of their ends to those of a million resamples, as a
share of the width (0.01 is the limit allowed), beside that of 9,999 resamples. Coverage and width
of those, of differences of close runs, of small sets of hard queries and of hits in clusters
(allowed: 0.94 to 0.97; intervals of hits, and of the small sets, may exceed it). Detectable: how
often the verdict finds a run that is better than all others by the difference that its comparison
calls detectable (allowed: 0.78 to 0.9). Speed: a comparison of 5 systems, and one of 50 systems
with 1,225 pairs.

    python benchmarks/statistics.py [--only tests agreement coverage detectable speed]
                                    [--simulations N] [--draws N] [--seed N] [--tukey N]
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

# Not this folder itself: this file would hide the standard library's module.
sys.path[0] = str(Path(__file__).parent / "support")

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from score_shapes import SHAPES, SMALL, clustered_hits  # noqa: E402
from stated_differences import KINDS, found_at_stated  # noqa: E402

from karat.scoring.stats import bootstrap_intervals, compare, randomised_tukey  # noqa: E402
from karat.scoring.stats.bootstrap import (  # noqa: E402
    clopper_pearson,
    studentised_quantiles,
)
from karat.scoring.stats.moments import t_quantile, t_two_sided  # noqa: E402
from karat.scoring.stats.signflip import (  # noqa: E402
    flip_sums,
    holm,
    resample_halves,
    step_down,
)

ALPHA = 0.05
LIMIT = 0.06
NEAR = 0.01
COVERAGE = (0.94, 0.97)
PARTS = ("tests", "agreement", "coverage", "detectable", "speed")
# The share of pairs in which a difference of the stated size is found.
DETECTED = (0.78, 0.9)
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


class Coverage(NamedTuple):
    """How often intervals hold the truth, the standard error, and the width over Student's."""

    rate: float
    error: float
    width: float


def coverage(
    make: Callable[[np.random.Generator, int], Scores],
    n: int,
    count: int,
    *,
    seed: int,
    least: float = 0.0,
) -> Coverage:
    """Return how often the interval of a mean holds the true mean; *least* is the lower bound."""
    rng = np.random.default_rng([seed, n, 7])
    many = np.concatenate([make(rng, 20_000).ravel() for _ in range(50)])
    truth, is_bounded = float(many.mean()), many.min() >= least and many.max() <= 1.0
    hits, widths, students = 0, 0.0, 0.0
    # Fifty samples side by side share their resamples; each interval is still its own sample's.
    for start in range(0, count, 50):
        samples = np.stack([make(rng, n) for _ in range(min(50, count - start))], axis=1)
        intervals = bootstrap_intervals(
            samples, bounds=(least, 1.0) if is_bounded else None, draws=1_999, seed=start
        )
        known = [(i.low, i.high) for i in intervals if i.low is not None and i.high is not None]
        hits += sum(low <= truth <= high for low, high in known)
        widths += sum(high - low for low, high in known)
        reach = t_quantile(0.975, n - 1) * samples.std(axis=0, ddof=1) / math.sqrt(n)
        students += 2 * float(reach.sum())
    rate = hits / count
    return Coverage(rate, math.sqrt(rate * (1 - rate) / count), widths / students)


def clustered_coverage(clusters: int, rate: float, alike: float, count: int, seed: int) -> Coverage:
    """Return how often the interval of hits in clusters holds the true *rate*.

    The width is relative to Clopper and Pearson's of as many independent queries.
    """
    rng = np.random.default_rng([seed, clusters, round(rate * 100), round(alike * 100)])
    hits, widths, exact = 0, 0.0, 0.0
    for start in range(0, count, 50):
        samples, codes = clustered_hits(rng, clusters, 50, rate=rate, alike=alike)
        intervals = bootstrap_intervals(
            samples, bounds=(0, 1), draws=999, seed=start, clusters=codes
        )
        for interval, sample in zip(intervals, samples.T, strict=True):
            low, high = interval.low or 0.0, 1.0 if interval.high is None else interval.high
            hits += low <= rate <= high
            widths += high - low
            plain = clopper_pearson(int(sample.sum()), len(sample), 0.95)
            exact += (plain.high or 0.0) - (plain.low or 0.0)
    share = hits / count
    return Coverage(share, math.sqrt(share * (1 - share) / count), widths / exact)


def resampled_ends(
    values: Scores, draws: int, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Return the ends of the 95 % bootstrap-t interval by *draws* resamples.

    A resample of values of few kinds is a multinomial count of the kinds. Two kinds have few
    possible ends: those up to two standard errors of the quantile away follow.
    """
    n = len(values)
    kinds, counts = np.unique(values, return_counts=True)
    centred = kinds - values.mean()
    ts = np.empty(draws)
    for start in range(0, draws, 50_000):
        drawn = rng.multinomial(n, counts / n, size=min(50_000, draws - start))
        total, squares = drawn @ centred, drawn @ (centred * centred)
        ts[start : start + len(drawn)] = total / np.sqrt(n * squares - total * total)
    ts.sort()
    k = (draws + 1) // 40
    slip = round(2 * math.sqrt(k)) if len(kinds) == 2 else 0
    mean, scale = values.mean(), values.std()
    places = dict.fromkeys((k, k - slip, k + slip))
    return [(mean - ts[draws - at] * scale, mean - ts[at - 1] * scale) for at in places]


def agreement(samples: int, seed: int) -> bool:
    """Print how far ends lie from those of a million resamples; return whether all are near."""
    print("\n| values | n | without draws | distance | 9,999 resamples |\n|---|---|---|---|---|")
    all_near = True
    for name, make in SHAPES.items():
        for n in (300, 1_000, 7_000):
            rng = np.random.default_rng([seed, n, 11])
            analytic = 0
            found: dict[str, list[float]] = {"ours": [], "drawn": []}
            for _ in range(samples):
                values = make(rng, n)
                many = resampled_ends(values, 999_999, rng)
                # Ends of the bootstrap-t itself, before Student's may widen them.
                centred = (values - values.mean())[:, None]
                found_t = studentised_quantiles(
                    centred, codes=None, level=0.95, draws=9_999, seed=seed
                )
                low_t, high_t, se = (float(column[0]) for column in found_t[:3])
                ours = values.mean() - high_t * se, values.mean() - low_t * se
                drawn = resampled_ends(values, 9_999, rng)[0]
                width = many[0][1] - many[0][0]
                for kind, ends in (("ours", ours), ("drawn", drawn)):
                    off = (min(abs(ends[end] - each[end]) for each in many) for end in (0, 1))
                    found[kind].append(max(off) / width)
                is_analytic = not found_t.drawn[0]
                analytic += is_analytic
                all_near &= not is_analytic or found["ours"][-1] < NEAR
            most = [max(distances) for distances in found.values()]
            row = f"{name} | {n:,} | {analytic}/{samples} | {most[0]:.4f} | {most[1]:.4f}"
            print(f"| {row} |", flush=True)
    return all_near


def print_coverage(name: str, found: Coverage) -> None:
    """Print one row of coverage."""
    print(f"| {name} | {found.rate:.3f} | {found.error:.4f} | {found.width:.2f} |", flush=True)


def all_coverage(count: int, seed: int) -> bool:
    """Print the coverage of intervals of large sets, and where it once failed.

    Return whether all are within the limits.
    """
    print("\n| values | n | coverage | standard error | width / Student's |\n|---|---|---|---|---|")
    makes = {
        cell.name: (lambda rng, n, make=cell.make: make(rng, n, 0.0)[:, 0]) for cell in CELLS
    } | SHAPES
    cells = [(name, make, n) for name, make in makes.items() for n in (300, 1_000)]
    cells += [(name, make, n) for name, (make, sizes) in SMALL.items() for n in sizes]
    good = True
    for name, make, n in cells:
        least = -1.0 if name.startswith(("difference", "the same")) else 0.0
        found = coverage(make, n, count, seed=seed, least=least)
        # Intervals of hits, or of scores that are mostly 0 or 1, may hold the truth more often.
        may_exceed = name.startswith("hit") or name in SMALL
        good &= found.rate >= COVERAGE[0] and (may_exceed or found.rate <= COVERAGE[1])
        print_coverage(f"{name} | {n:,}", found)
    print("\n| clusters | hits | alike | coverage | standard error | width / unclustered |")
    print("|---|---|---|---|---|---|")
    for clusters in (10, 20, 40, 100):
        for rate in (0.5, 0.85, 0.95):
            for alike in (0.0, 0.3, 0.9):
                found = clustered_coverage(clusters, rate, alike, count, seed)
                good &= found.rate >= COVERAGE[0]
                print_coverage(f"{clusters} | {rate:.2f} | {alike:.1f}", found)
    return good


def detectable(count: int, seed: int) -> bool:
    """Print how often a difference of the stated size is found; return whether often enough."""
    print("\n| scores | systems | n | true difference | stated | found | pairs |")
    print("|---|---|---|---|---|---|---|")
    good = True
    for kind in KINDS:
        for systems in (2, 3, 6, 12):
            for n in (6, 8, 10, 12, 15, 30, 60, 127, 500):
                rng = np.random.default_rng([seed, systems, n])
                found = found_at_stated(kind, systems, n, max(2 * count // systems, 50), rng)
                row = f"| {kind} | {systems} | {n} "
                if found is None:
                    print(f"{row}| - | none | - | - |", flush=True)
                    continue
                good &= DETECTED[0] <= found.share <= DETECTED[1]
                row += f"| {found.true:.3f} | {found.stated:.3f} | {found.share:.3f} "
                print(f"{row}| {found.pairs:,} |", flush=True)
    return good


def speed() -> None:
    """Print the CPU time of comparisons with 9,999 draws."""
    rng = np.random.default_rng(0)
    values = np.stack([reciprocal_rank(rng, 127, 0.3) for _ in range(6)]).transpose(2, 1, 0)
    values[:, :, 0] = values[:, :, 0] > 0
    many = np.concatenate([reciprocal_rank(rng, 1_000, 0.3) for _ in range(10)], axis=1)
    cases = {
        "5 systems, 6 metrics, 127 queries": (values, 15),
        "50 systems (1,225 pairs), 1 metric, 1,000 queries": (many.T[:, :, None], 5),
    }
    print()
    for name, (cube, rounds) in cases.items():
        times = []
        for _ in range(rounds):
            start = time.process_time()
            compare(
                cube,
                systems=[f"s{place}" for place in range(cube.shape[0])],
                metrics=[f"m{place}" for place in range(cube.shape[2])],
                bounds=(0, 1),
            )
            times.append((time.process_time() - start) * 1e3)
        middle = sorted(times)[rounds // 2]
        print(f"Comparison of {name}: {min(times):.0f} ms CPU at best, {middle:.0f} ms median")


def tests(options: argparse.Namespace) -> bool:
    """Print error rates, power and coverage of small sets; return whether the goals are met."""
    met = True
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
                met &= not (wrong and cell.judged)
            found_mean = coverage(
                lambda rng, n, make=cell.make: make(rng, n, 0.0)[:, 0],
                n,
                max(1, options.simulations // 4),
                seed=options.seed,
            )
            row = f"{cell.name} | {n} | coverage | interval"
            print(f"| {row} | {found_mean.rate:.3f} | {found_mean.error:.4f} |")
    return met


def main() -> int:
    """Print the tables; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--simulations", type=int, default=12_000, help="per cell")
    parser.add_argument("--draws", type=int, default=1_999, help="draws of each test")
    parser.add_argument("--seed", type=int, default=0, help="of the simulated scores")
    parser.add_argument(
        "--tukey", type=int, default=0, help="simulations with Tukey, which is slow"
    )
    options = parser.parse_args()
    met = True
    if "tests" in options.only:
        met &= tests(options)
    if "agreement" in options.only:
        met &= agreement(max(1, options.simulations // 3_000), options.seed)
    if "coverage" in options.only:
        met &= all_coverage(max(1, options.simulations // 4), options.seed)
    if "detectable" in options.only:
        met &= detectable(max(1, options.simulations // 8), options.seed)
    if "speed" in options.only:
        speed()
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
