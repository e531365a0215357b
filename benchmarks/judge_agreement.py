"""How well language models agree with people on public judgments, by Karat's own statistics.

    python benchmarks/judge_agreement.py --human human.qrels --model umbrela1.qrels gpt4o.qrels
    python benchmarks/judge_agreement.py --human human.qrels --model gpt4.qrels --runs runs/*

All files are TREC qrels; only pairs that both judges have graded count. With runs, the two orders
of systems by nDCG@10 are compared as well. README.md says where the files come from.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# This folder has a statistics.py, which would hide the standard library's.
sys.path.pop(0)

import numpy as np
from numpy.typing import NDArray

from karat.extensions.judges.stats.grades import confusion_table
from karat.extensions.judges.stats.orders import order_agreement
from karat.formats import read_dataset, read_run
from karat.model import Dataset, Query, Run, Target
from karat.model.comparison import Interval
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Scoring
from karat.scoring.stats.agreement import agreement, weighted_kappa

MEASURE = "ndcg@10"
DRAWS = 2_000
LEVELS = (1, 2, 3)
Grades = Mapping[tuple[str, str], float]


class GradedPairs(NamedTuple):
    """The grades of two judges on the same pairs, and the query of each pair."""

    first: list[float]
    second: list[float]
    queries: list[str]


def read_grades(path: Path) -> Grades:
    """Return the grade of each query and document."""
    gold = read_dataset(path, format="trec-qrels")
    return {
        (query_id, document): grade
        for row, query_id in enumerate(gold.query_ids)
        for document, grade in gold.judgments(row).items()
    }


def common(human: Grades, model: Grades) -> GradedPairs:
    """Return the pairs that both have graded, in a fixed order."""
    pairs = sorted(human.keys() & model.keys())
    return GradedPairs(
        [human[pair] for pair in pairs],
        [model[pair] for pair in pairs],
        [query_id for query_id, _ in pairs],
    )


def as_dataset(grades: Grades, name: str) -> Dataset:
    """Return *grades* as a gold set."""
    targets: dict[str, list[Target]] = {}
    for (query_id, document), grade in grades.items():
        targets.setdefault(query_id, []).append(Target(document, grade))
    queries = (Query(query_id, "", tuple(found)) for query_id, found in sorted(targets.items()))
    return Dataset.of(queries, name=name, match="document")


def scores(grades: Grades, runs: Sequence[Run]) -> NDArray[np.float64]:
    """Return nDCG@10 by query and system; NaN where a query has no relevant document."""
    gold = as_dataset(grades, "judge")
    scoring = Scoring(measures=(MEASURE,))
    columns = [
        evaluate_run(
            gold, run, scoring=scoring, confidence=None, slices={}, name=run.name
        ).table.columns[MEASURE]
        for run in runs
    ]
    return np.array(columns, dtype=np.float64).T


def number(value: float | None) -> str:
    """Return *value* with four digits, a dash for none."""
    return "-" if value is None else f"{value:.4f}"


def bounds(interval: Interval) -> str:
    """Return an interval in brackets."""
    return f"[{number(interval.low)}, {number(interval.high)}]"


def row(name: str, human: Grades, model: Grades) -> Iterator[str]:
    """Yield the cells of one judge."""
    pairs = common(human, model)
    found = agreement(pairs.first, pairs.second, clusters=pairs.queries, draws=DRAWS)
    yield name
    yield f"{found.pairs:,}"
    yield f"{found.share:.3f}"
    yield number(found.plain)
    yield number(found.kappa)
    yield bounds(found.interval)
    yield number(found.alpha)
    one, other = np.array(pairs.first), np.array(pairs.second)
    for level in LEVELS:
        yield number(weighted_kappa(one >= level, other >= level))


def show_order(name: str, human: Grades, model: Grades, runs: Sequence[Run]) -> None:
    """Print how alike both judges order the systems, on the queries that both have graded."""
    shared = human.keys() & model.keys()
    of_both = [{pair: grades[pair] for pair in shared} for grades in (human, model)]
    found = order_agreement(*(scores(grades, runs) for grades in of_both), draws=DRAWS)
    print(
        f"{name}: {found.systems} systems, {found.queries} queries, tau {number(found.tau)} "
        f"{bounds(found.interval)}, tau_AP {number(found.tau_ap)}"
    )


def show_confusion(name: str, human: Grades, model: Grades) -> None:
    """Print the table of both judges' grades, a row for each grade of the human."""
    pairs = common(human, model)
    table = confusion_table(pairs.first, pairs.second, clusters=pairs.queries, draws=DRAWS)
    print(f"\n{name}: grades of the model, by grade of the human")
    print("| human | " + " | ".join(f"{grade:g}" for grade in table.grades) + " |")
    print("|---|" + "---:|" * len(table.grades))
    for grade, counts, shares in zip(table.grades, table.counts, table.shares, strict=True):
        cells = (
            f"{count:,}" + ("" if share is None else f" ({share:.0%})")
            for count, share in zip(counts, shares, strict=True)
        )
        print(f"| {grade:g} | " + " | ".join(cells) + " |")


def main() -> None:
    """Print the agreement of every model with the human."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--human", type=Path, required=True)
    parser.add_argument("--model", type=Path, nargs="+", required=True)
    parser.add_argument("--runs", type=Path, nargs="*", default=[])
    parser.add_argument("--confusion", action="store_true")
    options = parser.parse_args()
    human = read_grades(options.human)
    models = {path.stem: read_grades(path) for path in options.model}
    print(
        "| model | pairs | equal | kappa | weighted | 95 % | alpha | "
        + " | ".join(f">= {level}" for level in LEVELS)
        + " |"
    )
    print("|---|" + "---:|" * 9)
    for name, model in models.items():
        print(f"| {' | '.join(row(name, human, model))} |", flush=True)
    runs = [read_run(path, format="trec-run") for path in options.runs]
    for name, model in models.items():
        if runs:
            show_order(name, human, model, runs)
        if options.confusion:
            show_confusion(name, human, model)


if __name__ == "__main__":
    main()
