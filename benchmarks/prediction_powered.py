"""Coverage, false alarms and width of prediction-powered intervals, by simulation.

Two equally good engines return ten hits for each of 300 or 1,000 queries. A language model labels
all hits; people label those of 20, 50 or 100 random queries. The hits of a query are relevant with
a probability of its own: "typical" queries have a mean nDCG@10 of about 0.5, with a mass at 0 and
at 1; of "hard" queries most have no relevant hit. The judges make mistakes in single labels:

- perfect: none;
- noisy: misses a tenth of the relevant hits, and accepts one of 25 others;
- biased: accepts 15 % of the other hits;
- favours B: accepts 20 % of the other hits of engine B only;
- random: its labels are those of another query;
- careless: noisy labels, but only for one query in twenty; the others are perfect.

Coverage is the share of 95 % intervals that contain the true mean, and for the difference between
the engines the true difference, 0; a false alarm is p <= 0.05 for it. Widths are relative to those
of the intervals by human labels of the sample alone, and by human labels of all queries; four
numbers, one for each column.

    python benchmarks/prediction_powered.py [--simulations N] [--draws N] [--judges NAMES]
    python benchmarks/prediction_powered.py --reference     # figures of ppi-python 0.2.3, for tests
"""

import argparse
import math
import sys
from collections.abc import Callable
from functools import cache
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.scoring.stats.bootstrap import bootstrap_intervals
from karat.scoring.stats.prediction_powered import prediction_powered

Labels = NDArray[np.bool_]  # [query, engine, rank]
Scores = NDArray[np.float64]
Judge = Callable[[np.random.Generator, Labels], Labels]

RANKS = 10
DISCOUNTS = 1 / np.log2(np.arange(RANKS) + 2)
IDEAL = np.concatenate([[1.0], np.cumsum(DISCOUNTS)])
SAMPLES = (20, 50, 100)
SIZES = (300, 1_000)
COLUMNS = ("nDCG@10", "hit@5", "difference of nDCG@10", "difference of hit@5")
BOUNDS = [(0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (-1.0, 1.0)]
FURTHER = ("false alarms", "width of sample", "of all")
GOAL = (0.93, 0.97)


def relevant_hits(rng: np.random.Generator, queries: int, kind: str) -> Labels:
    """Return which hits are relevant; the engines share the difficulty of a query."""
    if kind == "typical":
        ease = rng.choice([0.02, 0.3, 0.75], size=(queries, 1, 1), p=[0.2, 0.5, 0.3])
        ease = rng.beta(4 * ease, 4 * (1 - ease))
    else:
        ease = rng.beta(0.15, 1.8, size=(queries, 1, 1))
    chance = ease * 0.9 ** np.arange(RANKS)
    return rng.random((queries, 2, RANKS)) < chance


def mistaken(rng: np.random.Generator, truth: Labels, miss: float, accept: float) -> Labels:
    """Return *truth* with some relevant hits missed and some other hits accepted."""
    chance = rng.random(truth.shape)
    labels: Labels = np.where(truth, chance >= miss, chance < accept)
    return labels


def favouring(rng: np.random.Generator, truth: Labels) -> Labels:
    """Return *truth* with some further hits of the second engine accepted."""
    labels = truth.copy()
    labels[:, 1] = mistaken(rng, truth[:, 1], 0.0, 0.2)
    return labels


def careless(rng: np.random.Generator, truth: Labels) -> Labels:
    """Return *truth*, with mistakes in one query of twenty."""
    wrong = rng.random((len(truth), 1, 1)) < 0.05
    return np.where(wrong, mistaken(rng, truth, 0.3, 0.3), truth)


JUDGES: dict[str, Judge] = {
    "perfect": lambda _, truth: truth,
    "noisy": lambda rng, truth: mistaken(rng, truth, 0.1, 0.04),
    "biased": lambda rng, truth: mistaken(rng, truth, 0.0, 0.15),
    "favours B": favouring,
    "random": lambda rng, truth: truth[rng.permutation(len(truth))],
    "careless": careless,
}


def scores(labels: Labels) -> Scores:
    """Return ``[query, column]``: the measures of engine B, and B minus A."""
    relevant = np.minimum(labels.sum(axis=(1, 2)), RANKS)
    ideal = IDEAL[relevant][:, None]
    gain = labels @ DISCOUNTS
    ndcg = np.minimum(np.divide(gain, ideal, out=np.zeros_like(gain), where=ideal > 0), 1.0)
    hit = labels[:, :, :5].any(axis=2).astype(float)
    columns = [ndcg[:, 1], hit[:, 1], ndcg[:, 1] - ndcg[:, 0], hit[:, 1] - hit[:, 0]]
    return np.stack(columns, axis=1)


@cache
def true_means(kind: str) -> Scores:
    """Return the means of many queries; the engines do not differ."""
    parts = [scores(relevant_hits(np.random.default_rng(part), 250_000, kind)) for part in range(8)]
    means: Scores = np.mean([part.mean(axis=0) for part in parts], axis=0)
    return means * [1, 1, 0, 0]


class Cell(NamedTuple):
    """One line of the table."""

    kind: str
    judge: str
    sample: int
    queries: int


class Rates(NamedTuple):
    """One number per column; widths are means over simulations."""

    coverage: list[float]
    alarms: list[float]
    of_sample: list[float]
    of_all: list[float]
    weight: list[float]


def simulate(work: tuple[Cell, argparse.Namespace]) -> tuple[Cell, Rates]:
    """Return the rates of one cell."""
    cell, options = work
    true = true_means(cell.kind)
    place = list(JUDGES).index(cell.judge), cell.sample, cell.queries, cell.kind == "hard"
    rng = np.random.default_rng([options.seed, *map(int, place)])
    covered, alarms, widths, alone, full, weights = np.zeros((6, len(COLUMNS)))
    for seed in range(options.simulations):
        labels = relevant_hits(rng, cell.queries, cell.kind)
        y, f = scores(labels), scores(JUDGES[cell.judge](rng, labels))
        human = np.where(np.arange(cell.queries)[:, None] < cell.sample, y, np.nan)
        found = prediction_powered(human, f, bounds=BOUNDS, draws=options.draws, seed=seed)
        for column, each in enumerate(found):
            low, high = each.interval.low, each.interval.high
            if low is None or high is None:  # no difference at all
                low = high = each.mean or 0.0
            covered[column] += low - 1e-9 <= true[column] <= high + 1e-9
            alarms[column] += (each.p or 1.0) <= 0.05
            widths[column] += high - low
            weights[column] += each.weight
        # Widths need fewer simulations than rates.
        if seed % 10 == 0:
            for total, values in ((alone, human), (full, y)):
                for column, interval in enumerate(
                    bootstrap_intervals(values, bounds=BOUNDS, draws=options.draws, seed=seed)
                ):
                    total[column] += 10 * ((interval.high or 0.0) - (interval.low or 0.0))
    n = options.simulations
    ratios = (widths / alone).tolist(), (widths / full).tolist()
    return cell, Rates(
        (covered / n).tolist(), (alarms / n).tolist(), *ratios, (weights / n).tolist()
    )


def print_reference() -> None:
    """Print estimate and standard error of ppi-python for the scores of the unit test."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    from scipy.stats import norm

    rows = np.arange(80)
    f = (rows * 7 % 11) / 10
    y = np.clip(f + ((rows * 5 % 13) - 7) / 20, 0, 1)
    for weight in (0.25, 0.6, 1.0):
        data = y[:40], f[:40], f[40:]
        # Half of the queries are judged; ppi-python's lambda is w N / (n + N).
        estimate = float(np.squeeze(ppi_mean_pointestimate(*data, lam=weight / 2)))
        low, high = ppi_mean_ci(*data, alpha=0.05, lam=weight / 2)
        error = float(np.squeeze(high - low)) / (2 * norm.ppf(0.975))
        print(f"({weight}, {estimate!r}, {float(error)!r}),")


def main() -> int:
    """Print one table per kind of queries; return 1 if a coverage misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2_000)
    parser.add_argument("--draws", type=int, default=399)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default="typical,hard")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--reference", action="store_true")
    options = parser.parse_args()
    if options.reference:
        print_reference()
        return 0
    cells = [
        Cell(kind, judge, sample, queries)
        for kind in options.kinds.split(",")
        for judge in options.judges.split(",")
        for queries in SIZES
        for sample in SAMPLES
    ]
    print(f"standard error of a coverage of 0.95: {math.sqrt(0.0475 / options.simulations):.4f}")
    print(f"| queries | judge | sample | {' | '.join(COLUMNS)} | {' | '.join(FURTHER)} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    worst = []
    with get_context("spawn").Pool(options.processes) as pool:
        for cell, rates in pool.imap(simulate, [(cell, options) for cell in cells]):
            shown = [cell.kind, cell.judge, f"{cell.sample} of {cell.queries}"]
            shown += [f"{rate:.3f}" for rate in rates.coverage]
            shown.append(", ".join(f"{rate:.3f}" for rate in rates.alarms[2:]))
            shown += [
                ", ".join(f"{ratio:.2f}" for ratio in ratios)
                for ratios in (rates.of_sample, rates.of_all)
            ]
            print(f"| {' | '.join(shown)} |")
            sys.stdout.flush()
            worst += [(rate, cell) for rate in rates.coverage if not GOAL[0] <= rate <= GOAL[1]]
    for rate, cell in sorted(worst):
        print(f"outside {GOAL[0]} to {GOAL[1]}: {rate:.3f}, {', '.join(map(str, cell))}")
    return 1 if any(rate < GOAL[0] for rate, _ in worst) else 0


if __name__ == "__main__":
    sys.exit(main())
