"""How many generated queries are good, and the agreement of two annotators.

Prints Markdown from the labels beside this file:

    python benchmarks/labels/agreement.py

``labels.jsonl`` has the verdicts of the first annotator, one per line: repository, commit, verdict,
reason and, if the second annotator judged the case too, its number there. ``second.jsonl`` has
number, verdict and reason of the second, who did not see the first.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from karat.scoring.stats.bootstrap import clopper_pearson

HERE = Path(__file__).resolve().parent
VERDICTS = ("good", "weak", "bad", "leaks")
LEVEL = 0.95
DRAWS = 9_999
SEED = 0

Label = dict[str, Any]


class Pair(NamedTuple):
    """The verdicts of two annotators on one case."""

    first: str
    second: str


def labels(name: str) -> list[Label]:
    """Return the records of the file *name* beside this one; none where there is no such file."""
    path = HERE / name
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for record in records:
        if record["verdict"] not in VERDICTS:
            raise ValueError(f"{name}: verdict {record['verdict']!r}; expected one of {VERDICTS}")
    return records


def share(hits: int, n: int) -> str:
    """Return *hits* of *n* as a share with its exact interval (Clopper and Pearson)."""
    interval = clopper_pearson(hits, n, LEVEL)
    return f"{hits / n:.0%} ({interval.low:.0%} to {interval.high:.0%})"


def kappa(pairs: Sequence[Pair]) -> float:
    """Return Cohen's kappa; NaN where both readers give every case the same one verdict.

    >>> kappa([Pair("good", "good"), Pair("good", "bad"), Pair("bad", "bad"), Pair("bad", "bad")])
    0.5
    """
    n = len(pairs)
    first, second = Counter(pair.first for pair in pairs), Counter(pair.second for pair in pairs)
    by_chance = sum(first[verdict] * second[verdict] for verdict in first) / n**2
    if by_chance == 1.0:
        return float("nan")
    return (sum(pair.first == pair.second for pair in pairs) / n - by_chance) / (1 - by_chance)


def kappa_interval(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return the percentile bootstrap interval of kappa; draws without a kappa are left out."""
    rng = np.random.default_rng(SEED)
    drawn = rng.integers(len(pairs), size=(DRAWS, len(pairs)))
    kappas = [kappa([pairs[place] for place in places]) for places in drawn.tolist()]
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(kappas, [tail, 1 - tail])
    return float(low), float(high)


def print_shares(first: Sequence[Label]) -> None:
    """Print a row for each repository and one for all."""
    print("| repository | cases | good | weak | bad | leaks |\n|---|---|---|---|---|---|")
    for name in (*dict.fromkeys(label["repository"] for label in first), "all"):
        counts = Counter(
            label["verdict"] for label in first if name in {label["repository"], "all"}
        )
        rest = " | ".join(str(counts[verdict]) for verdict in VERDICTS[1:])
        print(f"| {name} | {counts.total()} | {share(counts['good'], counts.total())} | {rest} |")


def print_agreement(title: str, pairs: Sequence[Pair]) -> None:
    """Print how often the readers agree, as it is and beyond chance."""
    agreed = sum(pair.first == pair.second for pair in pairs)
    low, high = kappa_interval(pairs)
    beyond = f"{kappa(pairs):.2f} ({low:.2f} to {high:.2f})"
    print(f"| {title} | {len(pairs)} | {share(agreed, len(pairs))} | {beyond} |")


def main() -> None:
    """Print the shares and, where a second reader has read, the agreement."""
    first, second = labels("labels.jsonl"), labels("second.jsonl")
    print_shares(first)
    if not second:
        return
    numbered = {label["number"]: label for label in first if "number" in label}
    both = [(numbered[label["number"]], label) for label in second]
    pairs = [Pair(one["verdict"], other["verdict"]) for one, other in both]
    for reader, given in zip(("first", "second"), zip(*pairs, strict=True), strict=True):
        good = share(given.count("good"), len(given))
        print(f"\n{reader} reader, same {len(given)} cases, good: {good}")
    print("\n| question | cases | agreement | Cohen's kappa |\n|---|---|---|---|")
    print_agreement("which verdict", pairs)
    good_or_not = [Pair(*("good" if verdict == "good" else "no" for verdict in p)) for p in pairs]
    print_agreement("good or not", good_or_not)
    print("\n| repository | commit | first | second | first's reason | second's reason |")
    print("|---|---|---|---|---|---|")
    for one, other in both:
        if one["verdict"] != other["verdict"]:
            verdicts = f"{one['verdict']} | {other['verdict']}"
            reasons = f"{one['reason']} | {other['reason']}"
            print(f"| {one['repository']} | {one['commit'][:12]} | {verdicts} | {reasons} |")


if __name__ == "__main__":
    main()
