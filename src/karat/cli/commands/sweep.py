"""karat sweep: many configurations of the built-in engines, and which of them to take."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from karat.cli.help import ENGINES, INPUTS, OUTPUT, TieredCommand, option
from karat.cli.options.experiment import CorpusOption, RunOptions, run_options, where_options
from karat.cli.options.scoring import confidence_options, scoring_options
from karat.cli.options.shared import (
    GoldPath,
    Inputs,
    Output,
    OutputPath,
    WholeNumber,
    result_options,
)
from karat.cli.options.stray import stray

if TYPE_CHECKING:
    from karat.scoring.settings import Confidence, Scoring


class EngineFile(OutputPath):
    """A YAML or JSON file to write an engine to."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; another ending is an error before anything runs."""
        from karat.app.sweep import check_engine_file

        check_engine_file(str(value))
        return super().convert(value, param, ctx)


@click.command("sweep", cls=TieredCommand)
@click.argument("goldset", required=False, type=GoldPath())
@stray({"--matrix": "a matrix"})
@option(
    "--config",
    group=INPUTS,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Configuration file, see karat init: its matrix or its suites, gold set and settings.",
)
@option(
    "--matrix",
    group=ENGINES,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="YAML or JSON file with the values to combine, such as search_modes: [dense, hybrid].",
)
@option(
    "--suite",
    group=ENGINES,
    common=True,
    metavar="NAME",
    help="Name of a suite, a list of configurations; see --list-suites.",
)
@option(
    "--suites",
    group=ENGINES,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="File with your own suites, instead of the built-in ones.",
)
@option(
    "--list-suites", group=ENGINES, is_flag=True, help="List the suites and their configurations."
)
@option(
    "--single", group=ENGINES, is_flag=True, help="Run only the first configuration, to try it out."
)
@option(
    "--allow",
    group=ENGINES,
    type=WholeNumber(1),
    metavar="N",
    help="Allow up to N configurations; 50 by default.",
)
@option(
    "--write",
    group=OUTPUT,
    common=True,
    type=EngineFile(),
    metavar="FILE",
    help="Write the recommended configuration as an engine, such as best.yaml, for -e.",
)
@where_options
@option(
    "-k",
    group=ENGINES,
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
    write: str | None,
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
    karat sweep gold.json --matrix matrix.yaml --write best.yaml
    karat sweep gold.json --suite chunk_comparison --sample 100
    karat sweep questions.csv --corpus ../docs --suite quick_test --timed none
    karat sweep --config karat.yaml
    karat sweep --list-suites
    """
    from karat.cli.options.agents import load_gold, read_config, run_setup, with_metrics

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
    from karat.app.evaluate import ExperimentKind, ExperimentSetup
    from karat.app.sweep import matrix_sweep, read_matrix, suite_sweep

    scoring = with_metrics(scoring, read)
    # Before a gold set is mined, which takes long.
    combined = read_matrix(matrix) if matrix else None
    where = place.where()
    gold = load_gold(goldset, read, inputs, where, match=scoring.match)
    if combined and matrix:
        sweep = matrix_sweep(combined, matrix)
        if not scoring.measures:
            scoring = replace(scoring, measures=sweep.measures)
    else:
        sweep = suite_sweep(suite, suites, k=k, scoring=scoring, gold=gold, single=single)
    configurations = sweep.configurations[:1] if single else sweep.configurations
    run_setup(
        ExperimentSetup(gold, configurations, scoring, read, goldset or ""),
        ExperimentKind.SWEEP,
        where=where,
        inputs=inputs,
        options=options,
        confidence=confidence,
        output=output,
        name=sweep.name,
        allowed=allow,
        engine_file=write,
    )


def _list(path: str | None, output: Output) -> None:
    from karat.app.sweep import list_suites
    from karat.cli.output.show import put_json, put_table
    from karat.report.table import Cell, Column, Table

    known = list_suites(path)
    if output.style == "json":
        put_json(known)
        return
    columns = (Column("suite"), Column("runs", numeric=True), Column("configurations", spare=1))
    rows = tuple(
        (Cell(name), Cell(str(len(configs))), Cell(", ".join(configs)))
        for name, configs in known.items()
    )
    put_table(Table("", columns, rows))
