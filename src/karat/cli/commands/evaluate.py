"""karat evaluate: run engines on a gold set, score the hits and measure latency."""

from typing import TYPE_CHECKING

import click

from karat.cli.help import ENGINES, INPUTS, TieredCommand, option
from karat.cli.options.experiment import CorpusOption, RunOptions, run_options, where_options
from karat.cli.options.scoring import confidence_options, scoring_options
from karat.cli.options.shared import GoldPath, Inputs, Output, WholeNumber, result_options
from karat.cli.options.stray import stray

if TYPE_CHECKING:
    from karat.scoring.settings import Confidence, Scoring


@click.command("evaluate", cls=TieredCommand)
@click.argument("goldset", required=False, type=GoldPath())
@stray({"--engine": "an engine"})
@option(
    "--gold-set",
    "gold_option",
    group=INPUTS,
    type=GoldPath(),
    metavar="FILE",
    help="The same as GOLDSET.",
)
@option(
    "-e",
    "--engine",
    "--agent",
    "engines",
    group=ENGINES,
    common=True,
    multiple=True,
    metavar="SPEC",
    help="An engine, a profile or a YAML file, bm25 by default; may be repeated to compare, "
    "the first is the baseline. With --config, one of its engines.",
)
@option(
    "--config",
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Configuration file, see karat init: gold set, engines, settings and output.",
)
@where_options
@option(
    "-k",
    group=ENGINES,
    common=True,
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request per query, 100 by default; counted in files if targets are files.",
)
@run_options
@scoring_options
@confidence_options
@result_options
def command(
    goldset: str | None,
    gold_option: str | None,
    engines: tuple[str, ...],
    k: int | None,
    config: str | None,
    *,
    place: CorpusOption,
    options: RunOptions,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Run engines on the queries of GOLDSET, score the hits and measure latency.

    A gold set mined from Git is searched in the version before each change, so the answer
    itself is not in the corpus. Targets that do not exist there are counted; --details shows
    the scores without them too. Results are stored at once: the same command continues after an
    interruption, and the commands runs and report show them again.

    \b
    karat evaluate gold.json --engine bm25
    karat evaluate questions.csv --corpus ../project -e bm25 -o report.html
    karat evaluate questions.csv --corpus ../project --rev v2.0
    karat evaluate gold.json -e keyword -e bm25 -e rg.yaml -m hit@1,mrr -o report.html
    karat evaluate gold.json --snapshot child --run-out leak.jsonl
    karat evaluate --config karat.yaml --engine semantic_search --output results/
    """
    from karat.app.evaluate import ExperimentKind
    from karat.cli.options.agents import run_setup, select_engines

    where = place.where()
    setup = select_engines(
        gold=_one(goldset, gold_option),
        agents=engines,
        config=config,
        k=k,
        inputs=inputs,
        scoring=scoring,
        where=where,
    )
    run_setup(
        setup,
        ExperimentKind.EVALUATE,
        where=where,
        inputs=inputs,
        options=options,
        confidence=confidence,
        output=output,
    )


def _one(argument: str | None, option: str | None) -> str | None:
    if argument and option:
        raise click.UsageError("GOLDSET and --gold-set both name the gold set; give one of them.")
    return argument or option
