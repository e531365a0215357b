"""How much adversarial queries reduce the quality of BM25 and of a hybrid engine.

Mines a gold set with ``--adversarial`` and runs each attacked query and its original:

    python benchmarks/attacks.py --tree path/to/repository [--limit 150]

Prints the mean of both and the paired difference with its interval, as Markdown.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

# This folder's statistics.py would hide the standard library's.
sys.path.pop(0)
sys.path.append(str(Path(__file__).parent / "support"))

from in_process import asked

import karat
from karat.experiments.snapshots import history_snapshots
from karat.extensions.mining.generate import generate
from karat.extensions.mining.recipe import MiningRecipe

MEASURE = "mrr@10"


def part(gold: karat.Dataset, attack: str) -> dict[str, karat.Query]:
    """Return the queries after *attack* by the id of the case they were made of."""
    return {
        query.id.removesuffix(f"-{attack}"): query
        for query in gold.queries()
        if query.tags["attack"] == attack
    }


def renamed(run: karat.Run, queries: dict[str, karat.Query], name: str) -> karat.Run:
    """Return the answers to *queries* under the ids of their cases."""
    answers = {answer.query_id: answer for answer in run.answers()}
    kept = [answers[query.id]._replace(query_id=case) for case, query in queries.items()]
    return karat.Run.of(kept, name=name)


def rows(gold: karat.Dataset, run: karat.Run) -> list[str]:
    """Return a row for each attack on the queries of *run*."""
    plain = part(gold, "none")
    found = []
    for attack in sorted({query.tags["attack"] for query in gold.queries()} - {"none"}):
        attacked = part(gold, attack)
        cases = {case: plain[case] for case in attacked}
        truth = karat.Dataset.of(
            [query._replace(id=case) for case, query in cases.items()],
            name=attack,
            match=gold.match,
        )
        runs = [renamed(run, cases, "plain"), renamed(run, attacked, attack)]
        contest = karat.compare(truth, runs, [MEASURE])
        change = contest.comparison.differences[0]
        ends = f"[{change.interval.low:+.3f}, {change.interval.high:+.3f}]"
        found.append(
            f"| {run.name} | {attack} | {len(attacked)} | {change.baseline_mean:.3f} | "
            f"{change.system_mean:.3f} | {change.difference:+.3f} {ends} |"
        )
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=150)
    parser.add_argument("--engines", nargs="+", default=["bm25", "fast"])
    options = parser.parse_args(arguments)
    made = generate([str(options.tree)], MiningRecipe(limit=options.limit, adversarial=True))
    gold = made.dataset
    print(f"| engine | attack | cases | {MEASURE} plain | attacked | change |")
    print("|---|---|---|---|---|---|")
    for engine in options.engines:
        with history_snapshots(gold) as trees:
            print("\n".join(rows(gold, asked(gold, engine, trees))), flush=True)


if __name__ == "__main__":
    main()
