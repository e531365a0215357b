"""The gold set and the engines of an experiment: from options, or from a configuration file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import RunOptions
from karat.cli.options.shared import Inputs, Output
from karat.cli.output.experiments import Views, carry_out
from karat.report.display import printable
from karat.system.words import counted, join_names

if TYPE_CHECKING:
    from karat.app.benchmark_config import ConfigFile
    from karat.app.evaluate import ExperimentKind, ExperimentRequest, ExperimentSetup, Where
    from karat.model import Dataset
    from karat.scoring.settings import Confidence, Scoring


# Its folder has no file with a latency for each query, which would take long to measure.
SWEEP = "sweep"


def run_setup(
    setup: "ExperimentSetup",
    kind: "ExperimentKind",
    *,
    where: "Where",
    inputs: Inputs,
    options: RunOptions,
    confidence: "Confidence",
    output: Output,
    name: str = "",
    allowed: int | None = None,
    engine_file: str | None = None,
) -> None:
    """Run the experiment and show its result; result files need the latency of every query.

    The recommended engine is written to *engine_file*.
    """
    views = _views(setup.config, inputs, confidence, output)
    views = replace(views, engine_file=engine_file)
    request = make_request(
        setup,
        kind,
        where=where,
        options=options,
        timed=options.timed_queries(every=views.every_latency and kind.value != SWEEP),
        seed=confidence.seed,
        name=name,
    )
    carry_out(request, options, views, allowed=allowed)


def make_request(
    setup: "ExperimentSetup",
    kind: "ExperimentKind",
    *,
    where: "Where",
    options: RunOptions,
    timed: int | None,
    seed: int,
    name: str = "",
) -> "ExperimentRequest":
    """Return the experiment of *setup*; the latency of *timed* queries is measured, None for all.

    A line on standard error names repositories that have moved.
    """
    return setup.request(
        kind,
        where=_with_moved_repositories(setup.complete(where), setup.gold),
        sample=options.sample,
        repetitions=options.repetitions,
        timeout_s=options.timeout_s,
        tokenizer=options.tokenizer,
        timed=timed,
        workers=options.workers,
        seed=seed,
        wait=options.wait,
        timed_on=options.timed_on or "",
        name=name,
    )


def _views(
    config: "ConfigFile | None", inputs: Inputs, confidence: "Confidence", output: Output
) -> Views:
    """Return how the result is shown; -o overrides the output folder of the file."""
    views = Views(confidence, output, inputs.by, inputs.run_format)
    if config is None:
        return views
    if output.path is None and config.folder is not None:
        views = replace(views, output=output._replace(path=f"{config.folder}/"))
    return replace(views, formats=config.formats, charts=config.charts)


def select_engines(
    *,
    gold: str | None,
    agents: Sequence[str],
    config: str | None,
    k: int | None,
    inputs: Inputs,
    scoring: "Scoring",
    where: "Where",
) -> "ExperimentSetup":
    """Return the gold set and the engines of a command; references are found in *where*.

    With a *config*, *agents* are names of its engines, by default all of them; any other name is
    an engine by itself.
    """
    from karat.app.evaluate import ExperimentSetup, choose_engines, configure_engines

    read = read_config(config) if config else None
    # Before a gold set is mined, which takes long.
    scoring.parsed()
    engines = choose_engines(agents, read)
    dataset = load_gold(gold, read, inputs, where, match=scoring.match)
    scoring = with_metrics(scoring, read)
    configurations = configure_engines(engines, dataset, scoring, k=k)
    own, distinct = ([each.name for each in named] for named in (engines, configurations))
    if note := _numbered(agents, own, distinct):
        click.echo(printable(f"note: {note}"), err=True)
    return ExperimentSetup(dataset, configurations, scoring, read, gold or "")


def _numbered(typed: Sequence[str], own: Sequence[str], distinct: Sequence[str]) -> str:
    """Return which files the *distinct* names of engines mean that share their *own*, or ""."""
    pairs = [
        (name, text, shared)
        for text, shared, name in zip(typed, own, distinct, strict=False)
        if shared not in (name, text)
    ]
    if not pairs:
        return ""
    names = join_names(list(dict.fromkeys(name for *_, name in pairs)))
    listed = ", ".join(f"{new} is {text}" for new, text, _ in pairs)
    return f"{listed}: each has the name {names}; change name: in a file to tell them apart"


def read_config(path: str) -> "ConfigFile":
    """Return the content of a configuration file."""
    from karat.app.benchmark_config import read_benchmark_config

    return read_benchmark_config(path)


def with_metrics(scoring: "Scoring", config: "ConfigFile | None") -> "Scoring":
    """Return *scoring* with the measures of *config*, unless the command line names some."""
    if config is None or scoring.measures:
        return scoring
    return replace(scoring, measures=config.metrics)


def load_gold(
    path: str | None,
    config: "ConfigFile | None",
    inputs: Inputs,
    where: "Where",
    *,
    match: str | None = None,
) -> "Dataset":
    """Return the gold set in *path*, or the one that *config* names or describes.

    References of a gold set other than paths, such as quotes, are looked up in *where*.
    """
    path = path or (config.gold_set if config else None)
    if path is not None:
        from karat.app.evaluate import DIFFICULTY, with_difficulty
        from karat.app.resolve import resolve_for
        from karat.formats import read_dataset
        from karat.scoring.labels import use_labels

        gold = read_dataset(path, **inputs.reading)
        where = where.with_clones(gold)
        if where.only_given:
            gold = _given_part(gold, where)
        if resolution := resolve_for(gold, where, match=match):
            gold = resolution.dataset
            for note in resolution.notes():
                click.echo(printable(f"note: {note}"), err=True)
        gold = use_labels(gold, inputs.labels)
        return with_difficulty(gold, where) if DIFFICULTY in inputs.by else gold
    from karat.app.gold_sources import GOLD_SOURCES

    source = GOLD_SOURCES.get(config.source) if config and config.source else None
    if config is None or source is None or (made := source.make(config.settings)) is None:
        raise click.UsageError("Expected a gold set, or --config FILE with a section dataset.")
    return made


def _given_part(gold: "Dataset", where: "Where") -> "Dataset":
    """Return the cases of *gold* whose repository is there, and say which are left out."""
    from karat.app.evaluate import given_part

    part, lacking = given_part(gold, where.repositories)
    if lacking:
        names = ", ".join(f"{name} ({count:,})" for name, count in sorted(lacking.items()))
        click.echo(
            printable(
                f"note: {len(part):,} of {counted(len(gold), 'case')}; no repository for {names}"
            ),
            err=True,
        )
    return part


def _with_moved_repositories(where: "Where", gold: "Dataset") -> "Where":
    """Return *where* with repositories that have moved and are found by their commits."""
    from karat.app.evaluate import local_repositories

    if where.corpus is not None:
        return where
    moved = local_repositories(gold, where.repositories)
    for name, folder in moved.items():
        which = f"the repository {name}" if name else "the repository of the gold set"
        click.echo(
            printable(f"note: {which} is found by its commits in the current folder: {folder}"),
            err=True,
        )
    return where._replace(repositories={**moved, **where.repositories})
