"""karat sweep: many configurations of the built-in engines, and which of them to take."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.agents import stray
from karat.cli.options.experiment import CorpusOption, RunOptions, run_options, where_options
from karat.cli.options.shared import (
    Inputs,
    Output,
    WholeNumber,
    confidence_options,
    result_options,
    scoring_options,
)

if TYPE_CHECKING:
    from karat.experiments import Configuration
    from karat.scoring.settings import Confidence, Scoring

__all__ = ["command"]

FIRST_SUITE = "quick_test"


@click.command("sweep")
@click.argument("goldset", required=False, type=click.Path(exists=True))
@stray({"--matrix": "a matrix"})
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Configuration file, see karat init: its matrix or its suites, gold set and settings.",
)
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="YAML or JSON file with the values to combine, such as search_modes: [dense, hybrid].",
)
@click.option("--suite", metavar="NAME", help="Name of a suite, a list of configurations.")
@click.option(
    "--suites",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="File with your own suites, instead of the built-in ones.",
)
@click.option("--list-suites", is_flag=True, help="List the suites and their configurations.")
@click.option("--single", is_flag=True, help="Run only the first configuration, to try it out.")
@click.option(
    "--allow",
    type=WholeNumber(1),
    metavar="N",
    help="Allow up to N configurations; 50 by default.",
)
@where_options
@click.option(
    "-k",
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request per query of a suite, 100 by default; counted in files if targets "
    "are files. A matrix sets top_k_values instead.",
)
@run_options
@scoring_options
@confidence_options
@result_options
def command(
    goldset: str | None,
    config: str | None,
    matrix: str | None,
    suite: str | None,
    suites: str | None,
    *,
    k: int | None,
    list_suites: bool,
    single: bool,
    allow: int | None,
    place: CorpusOption,
    options: RunOptions,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Compare many configurations on GOLDSET and recommend one for quality and one for speed.

    The configurations are all combinations of a matrix, or a suite. Shared work is done once:
    an index, an embedding, a search at the greatest depth. Latency is measured separately for
    each configuration, on the number of queries that --timed sets. The number of runs is shown
    before they start. The same command continues after an interruption.

    \b
    karat sweep gold.json --matrix matrix.yaml -o report.html
    karat sweep gold.json --suite chunk_comparison --sample 100
    karat sweep questions.csv --corpus ../docs --suite quick_test --timed none
    karat sweep --config karat.yaml
    karat sweep --list-suites
    """
    from karat.cli.options.agents import AgentSelection, load_gold, read_config, with_metrics

    read = read_config(config) if config else None
    if read and not matrix and not suites:
        if "matrix" in read.sections and not (suite or list_suites):
            matrix = config
        elif "suites" in read.sections:
            suites = config
    if list_suites:
        _list(suites, output)
        return
    if goldset is None and read is None:
        raise click.UsageError("Expected GOLDSET, --config FILE, or --list-suites.")
    if matrix and (suite or suites):
        raise click.UsageError("--matrix and --suite both name configurations; give one of them.")
    if matrix and k:
        raise click.UsageError("A matrix sets top_k_values; -k is only for a suite.")
    from karat.cli.output.show import single_threaded

    single_threaded()
    from karat.cli.output.experiments import carry_out
    from karat.experiments.matrix import read_matrix
    from karat.experiments.store import ExperimentKind

    scoring = with_metrics(scoring, read)
    # Before a gold set is mined, which takes long.
    combined = read_matrix(matrix) if matrix else None
    gold = load_gold(goldset, read, inputs)
    if combined:
        configurations = combined.configurations()
        if not scoring.measures:
            scoring = replace(scoring, measures=combined.measures())
    else:
        from karat.experiments.configurations import request_depth

        configurations = _suite(suite, suites, request_depth(k, scoring, gold), single=single)
    chosen = AgentSelection(
        gold, configurations[:1] if single else configurations, scoring, inputs, read
    )
    request = chosen.request(
        ExperimentKind.SWEEP, where=place.where(), options=options, seed=confidence.seed
    )
    name = Path(matrix).stem if matrix else suite or FIRST_SUITE
    views = chosen.views(confidence, output)
    carry_out(replace(request, name=name), options, views, allowed=allow)


def _suite(
    name: str | None, path: str | None, k: int, *, single: bool
) -> "tuple[Configuration, ...]":
    from karat.experiments.matrix import BUNDLED, suite, suites

    place = path or BUNDLED
    if name is None:
        if not single:
            known = ", ".join(suites(place))
            raise click.UsageError(f"Expected --matrix FILE, or --suite with one of: {known}.")
        name = FIRST_SUITE if path is None else next(iter(suites(place)))
    return suite(name, place, k=k)


def _list(path: str | None, output: Output) -> None:
    from karat.cli.output.show import put_json, put_table
    from karat.experiments.matrix import BUNDLED, suites
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
