"""How often a set of the size that `karat plan` states finds the planned difference, by simulation.

Five kinds of evaluations: differences of engines (most queries do not change, some change much),
normal differences, zeros and ones in one trial, zeros and ones in three trials, and clusters of
ten queries. Known spread: the size is planned from 20,000 queries. Pilot: it is planned from a
pilot of 30 or 100 queries; beside the share stand the 10th and 90th percentile of the planned
sizes. A difference is found if test and interval call it significant in the right direction
(expected: 0.8; allowed with a known spread: 0.76 to 0.88).

    python benchmarks/planned_sizes.py [--simulations N] [--seed N]
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.extensions.plan.spread import Design, Spread, spread_of, units_needed
from karat.scoring.stats import compare

Floats = NDArray[np.float64]
POPULATION = 20_000
PILOTS = (30, 100)
ALLOWED = (0.76, 0.88)
LEVEL, POWER, DRAWS = 0.95, 0.8, 999


class Drawn(NamedTuple):
    """Scores of both systems, ``[query, trial]``, and the cluster of each query."""

    first: Floats
    second: Floats
    clusters: list[int] | None = None


class Kind(NamedTuple):
    """A kind of evaluation: how *units* are drawn, and the true difference of its systems."""

    name: str
    draw: Callable[[np.random.Generator, int], Drawn]
    difference: float
    size: int = 1
    trials: int = 1
    hits: bool = False


def engines(rng: np.random.Generator, units: int) -> Drawn:
    """Two thirds of the queries have the same score; others gain or lose much."""
    moved = rng.random(units) < 1 / 3
    change = np.where(moved, rng.choice([-0.37, -0.2, 0.13, 0.37, 0.5], units), 0.0)
    return Drawn(np.zeros((units, 1)), change[:, None])


def normal(rng: np.random.Generator, units: int) -> Drawn:
    """Normal differences."""
    return Drawn(np.zeros((units, 1)), rng.normal(0.05, 0.3, (units, 1)))


def hits(rng: np.random.Generator, units: int) -> Drawn:
    """One system solves 12 % of the queries that the other does not, which solves 5 %."""
    solved_by = rng.choice(["second", "first", "both", "none"], units, p=[0.12, 0.05, 0.5, 0.33])
    first, second = (np.isin(solved_by, (name, "both")) for name in ("first", "second"))
    return Drawn(first.astype(float)[:, None], second.astype(float)[:, None])


def repeated(rng: np.random.Generator, units: int) -> Drawn:
    """Each query has its own chance of a success, of which there are three trials."""
    chance = rng.beta(1.2, 0.8, (units, 1))
    better = chance + (1 - chance) * rng.beta(1, 4, (units, 1))
    shape = (units, 3)
    return Drawn(
        (rng.random(shape) < chance).astype(float), (rng.random(shape) < better).astype(float)
    )


def clustered(rng: np.random.Generator, units: int) -> Drawn:
    """Clusters of ten queries that share a part of their difference."""
    shared = np.repeat(rng.normal(0.06, 0.12, units), 10)
    change = shared + rng.normal(0, 0.25, units * 10)
    return Drawn(
        np.zeros((len(change), 1)), change[:, None], [row // 10 for row in range(len(change))]
    )


KINDS = (
    Kind("engines", engines, (-0.37 - 0.2 + 0.13 + 0.37 + 0.5) / 5 / 3),
    Kind("normal", normal, 0.05),
    Kind("0/1, one trial", hits, 0.07, hits=True),
    # E(1 - chance) is 0.4, E of the gain 0.2.
    Kind("0/1, three trials", repeated, 0.4 * 0.2, trials=3),
    Kind("clusters of 10", clustered, 0.06, size=10),
)


def spread_in(kind: Kind, drawn: Drawn) -> Spread | None:
    """Return the spread in drawn scores."""
    return spread_of(drawn.first.tolist(), drawn.second.tolist(), drawn.clusters, hits=kind.hits)


def planned(kind: Kind, spread: Spread | None) -> int | None:
    """Return the planned number of units, None for none."""
    if spread is None or not spread.changed:
        return None
    design = Design(1, kind.size, kind.trials)
    return units_needed(spread, kind.difference, design, level=LEVEL, power=POWER)


def is_detected(kind: Kind, rng: np.random.Generator, units: int) -> bool:
    """Return whether one evaluation of this size finds the difference."""
    drawn = kind.draw(rng, units)
    values = np.stack([drawn.first.mean(axis=1), drawn.second.mean(axis=1)])[:, :, None]
    comparison = compare(
        values,
        systems=["first", "second"],
        metrics=["score"],
        draws=DRAWS,
        clusters=drawn.clusters,
        seed=int(rng.integers(2**31)),
    )
    (entry,) = comparison.differences
    return entry.is_significant and (entry.difference or 0.0) > 0


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print("| kind | difference | units | found | standard error | |")
    print("|---|---|---|---|---|---|")
    for kind in KINDS:
        units = planned(kind, spread_in(kind, kind.draw(rng, POPULATION // kind.size)))
        if units is None:
            raise SystemExit(f"{kind.name}: no size is enough")
        share = np.mean([is_detected(kind, rng, units) for _ in range(arguments.simulations)])
        error = np.sqrt(share * (1 - share) / arguments.simulations)
        verdict = "" if ALLOWED[0] <= share <= ALLOWED[1] else "outside"
        print(
            f"| {kind.name} | {kind.difference:.3f} | {units} | {share:.3f} | {error:.3f} | "
            f"{verdict} |",
            flush=True,
        )
    print("\n| kind | queries in the pilot | planned units, 10 % to 90 % | no plan | found |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        for queries in PILOTS:
            sizes = [
                planned(kind, spread_in(kind, kind.draw(rng, queries // kind.size)))
                for _ in range(arguments.simulations)
            ]
            known = [size for size in sizes if size is not None]
            low, high = np.percentile(known, [10, 90])
            share = np.mean([is_detected(kind, rng, size) for size in known])
            print(
                f"| {kind.name} | {queries} | {low:.0f} to {high:.0f} | "
                f"{1 - len(known) / len(sizes):.3f} | {share:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
