"""Two gold sets about each of twelve repositories: one written for search, one mined from history.

The written questions are semble's (``../shared/data/semble``): by the account of its authors, a
language model wrote questions and labels and checked them. The mined cases come from history up to
the same revision, and both are about files below the same folder.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from in_process import asked
from quality import DATA, below, repository

import karat
from karat.corpus import Corpus
from karat.experiments.snapshots import Snapshots, corpus_snapshots, history_snapshots
from karat.experiments.target_check import check_snapshots
from karat.extensions.mining.filters import Filters
from karat.extensions.mining.generate import generate, write_gold
from karat.extensions.mining.questions.generate import QuestionRecipe, generate_questions
from karat.extensions.mining.recipe import MiningRecipe
from karat.extensions.mining.variants import Level
from karat.formats import read_dataset
from karat.model import Dataset, Run
from karat.model.evaluation import QueryStatus

MEASURES = ("ndcg@10", "mrr")
LIMIT = 100
SEED = 2026
# Scores of one engine on one gold set: measure -> query -> score.
Scored = Mapping[str, Mapping[str, float]]


class Project(NamedTuple):
    """A repository with questions about it, all below *root* at *revision*."""

    name: str
    path: str
    revision: str
    root: str | None


class Pair(NamedTuple):
    """One repository's two gold sets."""

    project: Project
    written: Dataset
    mined: Dataset


def pairs(trees: Path, work: Path, only: Iterable[str]) -> list[Pair]:
    """Return the gold sets of the repositories below *trees*, or of those named in *only*.

    Mined cases are cached below *work*.
    """
    wanted = set(only)
    entries = json.loads((DATA / "semble" / "repos.json").read_text(encoding="utf-8"))
    found = [
        Project(
            entry["name"],
            repository(trees, entry["snapshot"]),
            entry["revision_used"],
            entry["benchmark_root"],
        )
        for entry in entries
        if not wanted or entry["name"] in wanted
    ]
    return [Pair(project, _written(project), _mined(project, work)) for project in found]


def _written(project: Project) -> Dataset:
    """Return the questions about *project*; the lines that a few of them have do not matter."""
    path = DATA / "semble" / "annotations" / f"{project.name}.json"
    return replace(read_dataset(path, format="semble"), match="exact")


def _mined(project: Project, work: Path) -> Dataset:
    """Return the cases that the history of *project* gives, each at every level of hardness."""
    path = work / "gold" / f"{project.name}.json"
    if not path.exists():
        recipe = MiningRecipe(
            branch=project.revision,
            limit=LIMIT,
            seed=SEED,
            hardness=tuple(Level),
            filters=Filters(exclude=_outside(project.root)),
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_gold(generate([project.path], recipe).dataset, str(path))
    return read_dataset(path, format="gold")


def _outside(root: str | None) -> tuple[str, ...]:
    """Return patterns, as in .gitignore, for all that is not below *root*."""
    return ("*", f"!/{root}/**") if root else ()


def _narrowed(trees: Snapshots, root: str | None) -> Snapshots:
    """Return *trees* with only the files below *root*."""

    def cut(
        corpora: Callable[[], Iterable[tuple[str, Corpus]]],
    ) -> Iterator[tuple[str, Corpus]]:
        return ((revision, below(corpus, root)) for revision, corpus in corpora())

    parts = tuple(part._replace(corpora=partial(cut, part.corpora)) for part in trees.parts)
    return replace(trees, parts=parts)


def _scores(
    gold: Dataset,
    opened: AbstractContextManager[Snapshots],
    engines: Sequence[str],
    *,
    root: str | None,
    folder: Path,
) -> list[Scored]:
    """Return the score of each engine on every query of *gold*, judged by files."""
    folder.mkdir(parents=True, exist_ok=True)
    places = {engine: folder / _file_name(engine) for engine in engines}

    missing = [engine for engine, place in places.items() if not place.exists()]
    if missing:
        with opened as trees:
            narrowed = _narrowed(trees, root)
            searched = check_snapshots(gold, narrowed, match=gold.match).searched
            if lost := searched.unresolved:
                print(f"{folder}: {lost} of {searched.targets} targets lost", file=sys.stderr)
            for engine in missing:
                scored = _scored(gold, asked(gold, engine, narrowed))
                places[engine].write_text(json.dumps(scored), encoding="utf-8")
    return [json.loads(place.read_text(encoding="utf-8")) for place in places.values()]


def _scored(gold: Dataset, run: Run) -> Scored:
    table = karat.evaluate(gold, run, MEASURES, confidence=None).table
    assert table.count(QueryStatus.SCORED) == len(gold), f"{run.name} left queries unanswered"
    return {
        measure: dict(zip(table.query_ids, table.columns[measure], strict=True))
        for measure in MEASURES
    }


def _file_name(engine: str) -> str:
    return re.sub(r"[^\w.=,]+", "_", engine).strip("_") + ".json"


def generated_scores(
    project: Project, made_from: str, masked: str, engines: Sequence[str], work: Path
) -> list[Scored]:
    """Return the scores of *engines* on queries made from the texts of *project*, by files."""
    path = work / "gold" / f"{project.name}-{made_from}-{masked}.json"
    if not path.exists():
        recipe = QuestionRecipe(
            made_from, project.revision, LIMIT, SEED, masked, _outside(project.root)
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_gold(generate_questions(project.path, recipe)[0], str(path))
    gold = replace(read_dataset(path, format="gold"), match="exact")
    return _scores(
        gold,
        history_snapshots(gold),
        engines,
        root=project.root,
        folder=work / f"{made_from}-{masked}" / project.name,
    )


def scores(pair: Pair, engines: Sequence[str], work: Path) -> tuple[list[Scored], list[Scored]]:
    """Return the scores of *engines* on the written and on the mined gold set of one repository.

    Tests are excluded from both: the written set runs at its revision, a mined case on the snapshot
    before its change. Earlier results are read from *work*.
    """
    project = pair.project
    trees = corpus_snapshots(
        pair.written, project.path, revision=project.revision, candidates="production"
    )
    return (
        _scores(
            pair.written,
            nullcontext(trees),
            engines,
            root=project.root,
            folder=work / "written" / project.name,
        ),
        _scores(
            pair.mined,
            history_snapshots(pair.mined),
            engines,
            root=project.root,
            folder=work / "mined" / project.name,
        ),
    )
