"""karat sweep: many configurations of the built-in engines, and which of them to take."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import Asking, CorpusOption, asking_options, where_options
from karat.cli.options.shared import (
    Inputs,
    Output,
    WholeNumber,
    confidence_options,
    result_options,
    scoring_options,
)
from karat.cli.options.stray import stray

if TYPE_CHECKING:
    from karat.experiments import Configuration
    from karat.scoring.settings import Confidence, Scoring

__all__ = ["command"]

FIRST_SUITE = "quick_test"


@click.command("sweep")
@click.argument("goldset", required=False, type=click.Path(exists=True))
@stray({"--matrix": "a matrix"})
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="YAML or JSON with the values to combine, such as search_modes: [dense, hybrid].",
)
@click.option("--suite", metavar="NAME", help="A list of configurations by its name.")
@click.option(
    "--suites",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Your own suites, in place of those that come with Karat.",
)
@click.option("--list-suites", is_flag=True, help="Show the suites and what they hold.")
@click.option("--single", is_flag=True, help="Run the first configuration only, to try it out.")
@click.option(
    "--allow",
    type=WholeNumber(1),
    metavar="N",
    help="Run up to N configurations; above 50 they must be allowed.",
)
@where_options
@click.option(
    "-k",
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request per query of a suite, counted in files where targets are files; 100 by "
    "default. A matrix says top_k_values.",
)
@asking_options
@scoring_options
@confidence_options
@result_options
def command(
    goldset: str | None,
    matrix: str | None,
    suite: str | None,
    suites: str | None,
    k: int | None,
    *,
    list_suites: bool,
    single: bool,
    allow: int | None,
    place: CorpusOption,
    asking: Asking,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Compare many configurations on GOLDSET and say which to take, for quality and for speed.

    They come from a matrix, of which every combination that makes a difference is one, or from a
    suite. What they share is done once: an index, an embedding, a search at the greatest depth.
    The latency of each is measured alone, for as many queries as --timed says. The number of runs
    is shown before anything runs. The same command continues after an interruption.

    \b
    karat sweep gold.json --matrix matrix.yaml -o report.html
    karat sweep gold.json --suite chunk_comparison --sample 100
    karat sweep questions.csv --corpus ../docs --suite quick_test --timed none
    karat sweep --list-suites
    """
    if list_suites:
        _list(suites, output)
        return
    if goldset is None:
        raise click.UsageError("Expected GOLDSET, or --list-suites.")
    if matrix and (suite or suites):
        raise click.UsageError("--matrix and --suite both name configurations; give one of them.")
    if matrix and k:
        raise click.UsageError(
            "A matrix says how many hits as top_k_values; -k belongs to a suite."
        )
    from karat.cli.output.show import single_threaded

    single_threaded()
    from karat.cli.options.agents import AgentSelection, read_gold
    from karat.cli.output.experiments import carry_out
    from karat.experiments.store import ExperimentKind

    gold = read_gold(goldset, inputs)
    if matrix:
        from karat.experiments.matrix import read_matrix

        found = read_matrix(matrix)
        configurations = found.configurations()
        if not scoring.measures:
            scoring = replace(scoring, measures=found.measures())
    else:
        from karat.experiments.configurations import request_depth

        configurations = _suite(suite, suites, request_depth(k, scoring, gold), single=single)
    chosen = AgentSelection(gold, configurations[:1] if single else configurations, scoring, inputs)
    request = chosen.request(
        ExperimentKind.SWEEP, where=place.where(), asking=asking, seed=confidence.seed
    )
    name = Path(matrix).stem if matrix else suite or FIRST_SUITE
    views = chosen.views(confidence, output)
    carry_out(replace(request, name=name), asking, views, allowed=allow)


def _suite(
    name: str | None, path: str | None, k: int, *, single: bool
) -> "tuple[Configuration, ...]":
    from karat.experiments.suites import BUNDLED, suite, suites

    place = path or BUNDLED
    if name is None:
        if not single:
            known = ", ".join(suites(place))
            raise click.UsageError(f"Expected --matrix FILE, or --suite with one of: {known}.")
        name = FIRST_SUITE if path is None else next(iter(suites(place)))
    return suite(name, place, k=k)


def _list(path: str | None, output: Output) -> None:
    from karat.cli.output.show import put_json, put_table
    from karat.experiments.suites import BUNDLED, suites
    from karat.report.table import Cell, Column, Table

    known = {
        name: [config.name for config in configs]
        for name, configs in suites(path or BUNDLED).items()
    }
    if output.style == "json":
        put_json(known)
        return
    columns = (Column("suite"), Column("runs", numeric=True), Column("configurations", spare=1))
    rows = tuple(
        (Cell(name), Cell(str(len(configs))), Cell(", ".join(configs)))
        for name, configs in known.items()
    )
    put_table(Table("", columns, rows))
