"""karat evaluate: judge searches on a gold set, each case on the tree before its change."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from karat.cli.options import Inputs, Output, confidence_options, output_options, scoring_options
from karat.cli.run_files import NAME, keeper
from karat.model.evaluation import Evaluation

if TYPE_CHECKING:
    from karat.app.evaluate import Evaluated, Result
    from karat.app.settings import Confidence, Scoring
    from karat.app.trees import Trees
    from karat.model import Dataset
    from karat.model.searched import Searched
    from karat.report.table import Table

__all__ = ["command"]


class Where(NamedTuple):
    """Where to search, as far as it was said."""

    repos: tuple[str, ...]
    snapshot: str | None
    corpus: str | None
    rev: str | None
    candidates: str | None


@click.command("evaluate")
@click.argument("goldset", type=click.Path(exists=True))
@click.option(
    "-e",
    "--engine",
    "--agent",
    "engines",
    multiple=True,
    default=["bm25"],
    show_default=True,
    metavar="SPEC",
    help="An engine, a profile or a YAML file; repeat it to compare, the first is the baseline.",
)
@click.option(
    "--repo",
    "repos",
    multiple=True,
    metavar="[NAME=]FOLDER",
    help="Where the repository of the gold set is, if it has moved; of several, by name.",
)
@click.option(
    "--snapshot",
    type=click.Choice(["parent", "base", "head", "child"]),
    help="The tree before each change (default), one before all, HEAD, or the one after.",
)
@click.option("--corpus", metavar="PLACE", help="Search this folder instead, for any gold set.")
@click.option("--rev", metavar="REVISION", help="With --corpus: PLACE as Git had it at REVISION.")
@click.option(
    "--candidates",
    type=click.Choice(["production", "all"]),
    help="Without tests (default for mined sets), or all files.",
)
@click.option("-k", type=click.IntRange(1), help="How many hits, or files; 100 by default.")
@click.option(
    "--run-out",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help=f"Keep the run; of several engines, {NAME} in the name tells them apart.",
)
@scoring_options
@confidence_options
@output_options
def command(
    goldset: str,
    engines: tuple[str, ...],
    k: int | None,
    run_out: str | None,
    *,
    repos: tuple[str, ...],
    snapshot: str | None,
    corpus: str | None,
    rev: str | None,
    candidates: str | None,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Search every query of GOLDSET with an engine, and score what it finds.

    A gold set that was mined from Git is searched on the tree before each change: neither moved
    files nor the answer itself are in the way. Targets that are not in the tree are counted, and
    the scores shown with and without them.

    \b
    karat evaluate gold.json --engine bm25
    karat evaluate gold.json -e keyword -e bm25 -e rg.yaml -m hit@1,mrr --match exact
    karat evaluate gold.json --snapshot child --run-out leak.jsonl
    karat evaluate questions.csv --corpus ../project --rev v2.0
    """
    from karat.cli.progress import progress_bar
    from karat.cli.show import single_threaded

    single_threaded()
    from karat.app.evaluate import evaluate
    from karat.formats import read_dataset

    several = len(engines) > 1
    keep = keeper(run_out, inputs.run_format, several=several) if run_out else None
    gold = read_dataset(goldset, format=inputs.gold_format, tags=inputs.tags)
    where = Where(repos, snapshot, corpus, rev, candidates)
    with _trees(gold, where, confidence.seed) as trees, progress_bar("searching") as progress:
        found = evaluate(
            gold,
            engines,
            trees,
            k=k,
            scoring=scoring,
            confidence=confidence,
            by=inputs.by,
            surveyed=_warn,
            keep=keep,
            progress=progress,
        )
    _show(found, gold, output, settings=(scoring, confidence))


def _trees(gold: "Dataset", where: Where, seed: int) -> "AbstractContextManager[Trees]":
    from karat.app.trees import corpus_trees, history_trees

    if where.corpus is None:
        if where.rev is not None:
            raise click.UsageError("--rev belongs to --corpus.")
        return history_trees(
            gold,
            _by_name(where.repos),
            snapshot=where.snapshot or "parent",
            candidates=where.candidates,
            seed=seed,
        )
    if where.repos or where.snapshot is not None:
        raise click.UsageError("--corpus is searched in place of the trees of a repository.")
    candidates = where.candidates or "all"
    return nullcontext(
        corpus_trees(gold, where.corpus, revision=where.rev, candidates=candidates, seed=seed)
    )


def _by_name(repos: Sequence[str]) -> dict[str, str]:
    """Return the folders by name; one that is given alone has none, whatever it is called."""
    pairs = (("", "", repo) if Path(repo).exists() else repo.rpartition("=") for repo in repos)
    return {name: folder for name, _, folder in pairs}


def _warn(searched: "Searched") -> None:
    from karat.report.searched_view import warning

    if text := warning(searched):
        click.echo(f"warning: {text}", err=True)


def _show(
    found: "Evaluated",
    gold: "Dataset",
    output: Output,
    *,
    settings: "tuple[Scoring, Confidence]",
) -> None:
    from karat.cli import show
    from karat.report.searched_view import dropped_line, remarks, warning, work_line

    searched = found.searched
    lines = [*remarks(searched)]
    lines += [work_line(name, work, searched.trees) for name, work in found.work.items()]
    lines += [dropped_line(name, counts) for name, counts in found.dropped.items()]
    if output.style == "json":
        from karat.report.json import searched_json

        text = searched_json(
            found.overall,
            found.resolved,
            show.named(settings),
            searched=searched,
            work=found.work,
            dropped=found.dropped,
            warning=warning(searched),
        )
        show.put(text, output)
    elif output.style == "csv":
        for line in lines:
            click.echo(line, err=True)
        if isinstance(found.overall, Evaluation):
            show.show_evaluation(found.overall, gold, output, settings=settings)
        else:
            show.show_contest(found.overall, gold, output, settings=settings)
    else:
        *before, whole = _tables(found.overall, gold, output)
        tables = [*before, replace(whole, notes=(*whole.notes, *lines))]
        if found.resolved:
            # It flatters, so that it comes after the one that counts.
            table = _tables(found.resolved, gold, output)[-1]
            title = f"{table.title}, without the targets that are not in the tree searched"
            tables.append(replace(table, title=title, conclusion=""))
        show.put(show.drawn(tables, output), output)


def _tables(result: "Result", gold: "Dataset", output: Output) -> "list[Table]":
    from karat.cli.show import contest_tables, evaluation_tables

    if isinstance(result, Evaluation):
        return evaluation_tables(result, gold, output)
    return contest_tables(result, gold, output)
