"""Whether mined gold sets rank engines like gold sets that were written for search.

Every engine is evaluated on both kinds of gold sets for twelve repositories
(support/two_truths.py), and the two rankings of engines are compared by Kendall's tau-b. Results
are cached in the folder ``--work``.

    python benchmarks/validity.py --trees FOLDER --work /tmp/validity
    python benchmarks/validity.py --trees FOLDER --work /tmp/validity --only chi express redux \
        --engines bm25 sparse "dense(model=static)" balanced

FOLDER holds the repositories as for ``quality.py``.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
# This folder comes last: its statistics.py would hide the standard library's. quality.py takes the
# first one off the path when it is imported, so that rankings has to be there before.
sys.path[0] = str(FOLDER / "support")
sys.path.append(str(FOLDER))

import numpy as np  # noqa: E402
import rankings  # noqa: E402
from rankings import Side  # noqa: E402
from two_truths import MEASURES, Pair, Scored, pairs, scores  # noqa: E402

from karat.extensions.mining.variants import Level  # noqa: E402
from karat.extensions.mining.words import (  # noqa: E402
    Leak,
    is_identifier,
    leak,
)
from karat.model import Dataset, Query  # noqa: E402

ENGINES = (
    "keyword",
    "bm25",
    "bm25(code_ranking=false)",
    "bm25(chunker=lines)",
    "bm25(header=0)",
    "bm25(k1=0.5, b=0.3)",
    "sparse",
    "dense(model=static)",
    "dense(model=static, code_ranking=false)",
    "hybrid(model=static)",
    "hybrid(model=static, code_ranking=false)",
    "hybrid(model=static, fusion=rrf)",
)
# Engines that know nothing about code but its words.
PLAIN = {"keyword", "sparse", *(engine for engine in ENGINES if "code_ranking=false" in engine)}
DRAWS = 10_000
SPLITS = 1_000
SEED = 2026
PRIMARY = MEASURES[0]
Tags = Mapping[str, str]
# Of the mined cases with the default query.
KINDS: Mapping[str, Callable[[Tags], bool]] = {
    "query spells no part of the path": lambda tags: tags["leak"] == "none",
    "query spells some of the path": lambda tags: tags["leak"] != "none",
    "query without identifier": lambda tags: tags["identifier"] == "no",
    "query with identifier": lambda tags: tags["identifier"] == "yes",
    "one file to find": lambda tags: tags["complexity"] == "low",
    "several files to find": lambda tags: tags["complexity"] != "low",
}
CATEGORIES = ("architecture", "semantic", "symbol")


class Found(NamedTuple):
    """The scores of every engine on both gold sets of one repository."""

    pair: Pair
    written: list[Scored]
    mined: list[Scored]


def side_of(
    found: Sequence[Found], measure: str, choose: Callable[[Found], tuple[list[Scored], list[str]]]
) -> Side:
    """Return ``[engine, query]`` for each repository in which *choose* finds a query."""
    chosen = [choose(one) for one in found]
    return [
        np.array([[scored[measure][query] for query in ids] for scored in engines])
        for engines, ids in chosen
        if ids
    ]


def written(found: Sequence[Found], measure: str, category: str | None = None) -> Side:
    """Return the scores on written questions, or on those of one *category*."""

    def choose(one: Found) -> tuple[list[Scored], list[str]]:
        gold = one.pair.written
        of = zip(gold.query_ids, gold.tags["category"], strict=True)
        return one.written, [query for query, tag in of if category in (None, tag)]

    return side_of(found, measure, choose)


def mined(
    found: Sequence[Found], measure: str, keeps: Callable[[Tags], bool] = lambda _: True
) -> Side:
    """Return the scores on mined cases with the default query, filtered by *keeps*."""

    def choose(one: Found) -> tuple[list[Scored], list[str]]:
        return one.mined, [
            query.id
            for query in one.pair.mined.queries()
            if query.tags["hardness"] == Level.CLEANED and keeps(query.tags)
        ]

    return side_of(found, measure, choose)


def mined_at(found: Sequence[Found], measure: str, level: Level) -> Side:
    """Return the scores at *level* on the mined cases that exist at every level."""

    def choose(one: Found) -> tuple[list[Scored], list[str]]:
        asked: dict[object, dict[str, str]] = {}
        for query in one.pair.mined.queries():
            variants = asked.setdefault(query.extra["commit_hash"], {})
            variants[query.tags["hardness"]] = query.id
        return one.mined, [ids[level] for ids in asked.values() if len(ids) == len(Level)]

    return side_of(found, measure, choose)


def size(side: Side) -> int:
    """Return how many queries *side* has."""
    return sum(table.shape[1] for table in side)


def scores_table(found: Sequence[Found], engines: Sequence[str]) -> Iterator[str]:
    """Yield a table of the scores of each engine, the best on written questions first."""
    columns = [rankings.means(make(found, m)) for m in MEASURES for make in (written, mined)]
    heads = [f"{kind} {measure}" for measure in MEASURES for kind in ("written", "mined")]
    yield f"| engine | {' | '.join(heads)} |"
    yield "|---|" + "---|" * len(heads)
    for place in np.argsort(-columns[0]):
        yield f"| `{engines[place]}` | " + " | ".join(f"{c[place]:.3f}" for c in columns) + " |"


def agreement_table(rows: Mapping[str, tuple[Side, Side]]) -> Iterator[str]:
    """Yield a table of how alike two sides rank the engines."""
    yield "| compared | queries | tau | pairs told apart by the first: same order | reversed |"
    yield "|---|---|---|---|---|"
    for label, (first, second) in rows.items():
        tau, low, high = rankings.agreement(first, second, draws=DRAWS, seed=SEED)
        told = rankings.settled(first, second, draws=DRAWS, seed=SEED)
        yield (
            f"| {label} | {size(first)}, {size(second)} | {tau:.2f} [{low:.2f}, {high:.2f}] | "
            f"{told.alike} of {told.pairs} | {told.against} |"
        )


def queries_table(found: Sequence[Found]) -> Iterator[str]:
    """Yield a table of the properties of both kinds of queries."""
    kinds = {
        "written": [query for one in found for query in asked(one.pair.written)],
        "mined": [query for one in found for query in asked(one.pair.mined)],
    }
    yield "| queries | number | words | with identifier | one target | spell some of the path |"
    yield "|---|---|---|---|---|---|"
    for kind, queries in kinds.items():
        words = float(np.median([len(query.text.split()) for query in queries]))
        shares = (
            [any(map(is_identifier, query.text.split())) for query in queries],
            [len(query.targets) == 1 for query in queries],
            [leak(query.text, [t.path for t in query.targets]) != Leak.NONE for query in queries],
        )
        told = " | ".join(f"{np.mean(share):.0%}" for share in shares)
        yield f"| {kind} | {len(queries)} | {words:g} | {told} |"


def asked(gold: Dataset) -> list[Query]:
    """Return the default queries."""
    return [
        query
        for query in gold.queries()
        if query.tags.get("hardness", Level.CLEANED) == Level.CLEANED
    ]


def main_rows(found: Sequence[Found]) -> dict[str, tuple[Side, Side]]:
    """Return the comparisons: all queries, each hardness level, and kinds of queries."""
    rows = {f"written, mined: {m}": (written(found, m), mined(found, m)) for m in MEASURES}
    for level in Level:
        rows[f"written, mined {level}"] = (
            written(found, PRIMARY),
            mined_at(found, PRIMARY, level),
        )
    for label, keeps in KINDS.items():
        rows[f"written, mined: {label}"] = (written(found, PRIMARY), mined(found, PRIMARY, keeps))
    for category in CATEGORIES:
        rows[f"written {category}, mined"] = (
            written(found, PRIMARY, category),
            mined(found, PRIMARY),
        )
    return rows


def of_engines(side: Side, places: Sequence[int]) -> Side:
    """Return *side* for the engines at *places*."""
    return [table[list(places)] for table in side]


def show(found: Sequence[Found], engines: Sequence[str]) -> None:
    """Print all tables."""
    ours, theirs = mined(found, PRIMARY), written(found, PRIMARY)
    rows = main_rows(found)
    plain = [place for place, engine in enumerate(engines) if engine in PLAIN]
    if len(plain) > 1:
        label = f"written, mined: {len(plain)} engines without code ranking"
        rows[label] = of_engines(theirs, plain), of_engines(ours, plain)
    print(*queries_table(found), "", *scores_table(found, engines), "", sep="\n")
    print(*agreement_table(rows), "", sep="\n")
    single = {
        one.pair.project.name: (written([one], PRIMARY), mined([one], PRIMARY)) for one in found
    }
    print(*agreement_table(single), "", sep="\n")
    for name, first, second in (("written", theirs, ours), ("mined", ours, theirs)):
        split = rankings.halves(first, second, draws=SPLITS, seed=SEED)
        print(
            f"Half of the {name} queries: tau {split.itself:.2f} with the other half, "
            f"{split.other:.2f} with all of the other kind."
        )


def main() -> None:
    """Judge the engines on both kinds of gold sets, as far as not done before, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="keeps what was computed")
    parser.add_argument("--only", nargs="+", default=(), help="names of repositories")
    parser.add_argument("--engines", nargs="+", default=ENGINES, help="specifications")
    arguments = parser.parse_args()
    found = []
    for pair in pairs(arguments.trees, arguments.work, arguments.only):
        found.append(Found(pair, *scores(pair, arguments.engines, arguments.work)))
        print(pair.project.name, "done", file=sys.stderr)
    show(found, arguments.engines)


if __name__ == "__main__":
    main()
