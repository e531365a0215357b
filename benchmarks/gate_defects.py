"""How many injected defects a gate catches, and how often it fails a neutral change.

Mines cases of a repository, runs BM25 at the parent of each commit, and injects typical defects and
neutral changes. Random subsets of the cases are gated against the undisturbed run:

    python benchmarks/gate_defects.py --tree REPOSITORY [--tree REPOSITORY] [--subsets 100]

Prints, for each measure and number of queries, the share of defects caught and of neutral changes
failed: by the significance test alone, and by the rule for engines that answer identically. Defects
that change no score of a subset count as not caught.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

# This folder's statistics.py would hide the standard library's.
sys.path.pop(0)
sys.path.append(str(Path(__file__).parent / "support"))

import numpy as np
from in_process import asked
from numpy.typing import NDArray

import karat
from karat.app.gate import regression_check, tolerance
from karat.corpus import Document
from karat.corpus.snapshot import Reader
from karat.engines.lexical import tokens
from karat.experiments.snapshots import OpenSnapshot, history_snapshots
from karat.extensions.mining.generate import generate
from karat.extensions.mining.recipe import MiningRecipe
from karat.model.gate import Decision
from karat.scoring.stats import compare

SIZES = (30, 50, 100, 150, 250, 500)
MEASURES = ("ndcg@10", "mrr", "hit@5", "recall@10")
STALE = 60
CUT, MARK = 8_000, " cut"
# Random changes are drawn so many times; a subset takes one of them.
DRAWS = 8
Scores = dict[str, NDArray[np.float64]]
GERMAN = ("heit", "keit", "ung", "ern", "em", "er", "en", "es", "e", "s", "n")


class Change(NamedTuple):
    """A change of the search: the scores of each draw by measure, and whether it is a defect."""

    name: str
    defect: bool
    draws: tuple[Scores, ...]


def german_stem(word: str) -> str:
    """Return *word* without a German ending."""
    for ending in GERMAN:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


class CutReader:
    """Reads the beginning of each document."""

    def __init__(self, reader: Reader) -> None:
        """Store the *reader* of whole documents."""
        self._reader = reader

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        """Yield the first characters of each document."""
        whole = [one._replace(blob=one.blob.removesuffix(MARK)) for one in documents]
        return (text[:CUT] for text in self._reader(whole))


def shortened(trees: Iterable[OpenSnapshot]) -> Iterator[OpenSnapshot]:
    """Yield *trees* with documents cut."""
    for tree in trees:
        # Other ids, because chunks are cached by them.
        documents = tuple(one._replace(blob=f"{one.blob}{MARK}") for one in tree.corpus.documents)
        reader = CutReader(tree.corpus.reader)
        yield tree._replace(corpus=replace(tree.corpus, documents=documents, reader=reader))


def edited(
    run: karat.Run, edit: Callable[[Random, list[karat.Hit]], list[karat.Hit]], seed: int
) -> karat.Run:
    """Return *run* with the hits that *edit* leaves of each answer."""
    chance = Random(f"{run.name} {seed}")
    answers = [
        answer._replace(hits=tuple(edit(chance, list(answer.hits)))) for answer in run.answers()
    ]
    return karat.Run.of(answers, name=run.name)


def swapped(share: float) -> Callable[[Random, list[karat.Hit]], list[karat.Hit]]:
    """Return an edit that exchanges the first two hits of a *share* of the queries."""

    def edit(chance: Random, hits: list[karat.Hit]) -> list[karat.Hit]:
        return ranked(hits, [*hits[1::-1], *hits[2:]]) if chance.random() < share else hits

    return edit


def ranked(before: list[karat.Hit], after: list[karat.Hit]) -> list[karat.Hit]:
    """Return the hits *after* with the scores *before*, rank by rank."""
    return [hit._replace(score=old.score) for old, hit in zip(before, after, strict=True)]


def shuffled_tail(chance: Random, hits: list[karat.Hit]) -> list[karat.Hit]:
    """Return *hits* in another order from rank 11 on."""
    return ranked(hits, [*hits[:10], *chance.sample(hits[10:], len(hits[10:]))])


def stale(gold: karat.Dataset, tree: Path) -> karat.Dataset:
    """Return *gold*, searched on older versions."""

    def older(commit: str) -> str:
        command = ["git", "-C", str(tree), "rev-list", "--first-parent", "-n", "1"]
        command += [f"--skip={STALE}", commit]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return found.strip() or commit

    return gold.with_queries(
        query._replace(extra={**query.extra, "base_commit": older(str(query.extra["base_commit"]))})
        for query in gold.queries()
    )


def small_folder(run: karat.Run) -> str:
    """Return a folder that has about a twentieth of the first hits."""
    first = [answer.hits[0].path for answer in run.answers() if answer.hits]
    folders: dict[str, int] = {}
    for path in first:
        folder, slash, _ = path.rpartition("/")
        if slash:
            folders[f"{folder}/"] = folders.get(f"{folder}/", 0) + 1
    wanted = len(first) / 20
    return min(folders, key=lambda folder: (abs(folders[folder] - wanted), folder))


def runs_of(
    gold: karat.Dataset, tree: Path
) -> tuple[karat.Run, Iterator[tuple[str, bool, list[karat.Run]]]]:
    """Return the undisturbed run, and each change with its name, whether it is a defect, runs."""

    def searched(
        engine: str = "bm25",
        queries: karat.Dataset = gold,
        through: Callable[[Iterable[OpenSnapshot]], Iterable[OpenSnapshot]] = iter,
    ) -> karat.Run:
        with history_snapshots(queries) as trees:
            return asked(queries, engine, through(trees))

    def drawn(
        edit: Callable[[Random, list[karat.Hit]], list[karat.Hit]], draws: int = DRAWS
    ) -> list[karat.Run]:
        return [edited(base, edit, seed) for seed in range(draws)]

    def changes() -> Iterator[tuple[str, bool, list[karat.Run]]]:
        yield (
            "10 % of all hits lost",
            True,
            drawn(lambda chance, hits: [hit for hit in hits if chance.random() >= 0.1]),
        )
        yield (
            "5 % of queries answer nothing",
            True,
            drawn(lambda chance, hits: [] if chance.random() < 0.05 else hits),
        )
        yield "ranks 1 and 2 swapped for 20 %", True, drawn(swapped(0.2))
        lower = gold.with_queries(
            query._replace(text=query.text.lower()) for query in gold.queries()
        )
        yield "queries lower-cased", True, [searched(queries=lower)]
        folder = small_folder(base)
        yield (
            f"folder {folder} ignored",
            True,
            drawn(lambda _, hits: [hit for hit in hits if not hit.path.startswith(folder)], 1),
        )
        yield "chunks of 4 lines", True, [searched("bm25(chunker=lines:4)")]
        yield f"index {STALE} commits old", True, [searched(queries=stale(gold, tree))]
        yield f"files cut at {CUT:,} characters", True, [searched(through=shortened)]
        kept = tokens.stem
        tokens.plain.cache_clear()
        tokens.stem = german_stem
        try:
            yield "German stemmer", True, [searched()]
        finally:
            tokens.stem = kept
            tokens.plain.cache_clear()
        yield "identical", False, [searched()]
        yield "ranks from 11 on shuffled", False, drawn(shuffled_tail)
        yield "k1 1.6 to 1.55", False, [searched("bm25(k1=1.55)")]
        yield "b 0.75 to 0.72", False, [searched("bm25(b=0.72)")]
        yield "ranks 1 and 2 swapped for 2 %", False, drawn(swapped(0.02))
        yield (
            "scores rounded to six digits",
            False,
            drawn(lambda _, hits: [hit._replace(score=round(hit.score, 6)) for hit in hits], 1),
        )

    base = searched()
    return base, changes()


def scores_of(gold: karat.Dataset, run: karat.Run) -> Scores:
    """Return the score of each query by measure."""
    found = karat.evaluate(gold, run, list(MEASURES), confidence=None)
    return {name: np.asarray(found.table.columns[name]) for name in MEASURES}


def study(tree: Path, limit: int) -> tuple[Scores, list[Change]]:
    """Return the undisturbed scores of the cases of *tree*, and every change."""
    gold = generate([str(tree)], MiningRecipe(limit=limit)).dataset
    base, changes = runs_of(gold, tree)
    return scores_of(gold, base), [
        Change(name, defect, tuple(scores_of(gold, run) for run in runs))
        for name, defect, runs in changes
    ]


class Rate(NamedTuple):
    """Of *gates*, the number that failed by the old rule and by the new one."""

    gates: int
    old: int
    new: int

    def text(self) -> str:
        """Return both shares."""
        return f"{self.old / self.gates:.2f}, {self.new / self.gates:.2f}"


def rates(
    base: Scores, changes: Sequence[Change], size: int, subsets: int
) -> dict[tuple[str, str], Rate]:
    """Return the rate of each change on random subsets of *size* cases, by its name and measure."""
    rng = np.random.default_rng(size)
    total = len(base[MEASURES[0]])
    found = {}
    for change in changes:
        old, new = dict.fromkeys(MEASURES, 0), dict.fromkeys(MEASURES, 0)
        for subset in range(subsets):
            rows = rng.choice(total, size, replace=False)
            scores = change.draws[subset % len(change.draws)]
            # Only a loss can fail.
            lost = [name for name in MEASURES if np.mean(scores[name][rows] - base[name][rows]) < 0]
            if not lost:
                continue
            stacked = np.stack([[each[name][rows] for name in lost] for each in (base, scores)])
            comparison = compare(
                stacked.transpose(0, 2, 1),
                systems=["old", "new"],
                metrics=lost,
                bounds=(0, 1),
                draws=999,
            )
            for entry in comparison.differences:
                for counts, identical in ((old, False), (new, True)):
                    check = regression_check(
                        entry,
                        tolerance(base[entry.metric][rows]),
                        is_default=True,
                        identical=identical,
                    )
                    counts[entry.metric] += check.decision is Decision.FAILED
        for name in MEASURES:
            found[change.name, name] = Rate(subsets, old[name], new[name])
    return found


def joined(parts: Iterable[Rate]) -> Rate:
    """Return the rate over several changes."""
    return Rate(*map(sum, zip(*parts, strict=True)))


def report(tree: Path, limit: int, subsets: int) -> None:
    """Print the tables of one repository: old rule, new rule."""
    base, changes = study(tree, limit)
    total = len(base[MEASURES[0]])
    sizes = [size for size in SIZES if size <= total]
    by_size = {size: rates(base, changes, size, subsets) for size in sizes}
    heads = " | ".join(f"n = {size}" for size in sizes)
    print(f"\n{tree}: {total} cases; shares that fail by the test alone, by the default rule\n")
    print(f"| measure | changes | {heads} |\n|---|---|{'---|' * len(sizes)}")
    for measure in MEASURES:
        for defect, label in ((True, "defects"), (False, "neutral")):
            names = [change.name for change in changes if change.defect is defect]
            cells = [joined(by_size[size][name, measure] for name in names) for size in sizes]
            print(f"| {measure} | {label} | {' | '.join(cell.text() for cell in cells)} |")
    measure = MEASURES[0]
    print(f"\n| {measure} | change of the mean | {heads} |\n|---|---|{'---|' * len(sizes)}")
    for change in changes:
        mean = np.mean([np.mean(one[measure] - base[measure]) for one in change.draws])
        cells = [by_size[size][change.name, measure].text() for size in sizes]
        print(f"| {change.name} | {mean:+.4f} | {' | '.join(cells)} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of every repository."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, action="append", required=True)
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--subsets", type=int, default=100)
    options = parser.parse_args(arguments)
    for tree in options.tree:
        report(tree, options.limit, options.subsets)


if __name__ == "__main__":
    main()
