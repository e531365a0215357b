"""karat evaluate: judge searches on a gold set, each case on the tree before its change."""

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
    from karat.scoring.settings import Confidence, Scoring

__all__ = ["command"]


@click.command("evaluate")
@click.argument("goldset", required=False, type=click.Path(exists=True))
@stray({"--engine": "a search"})
@click.option(
    "--gold-set",
    "gold_option",
    type=click.Path(exists=True),
    metavar="FILE",
    help="The same as GOLDSET.",
)
@click.option(
    "-e",
    "--engine",
    "--agent",
    "engines",
    multiple=True,
    metavar="SPEC",
    help="An engine, a profile or a YAML file, bm25 by default; repeat it to compare, the first "
    "is the baseline. With --config, one of its agents.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="YAML as `karat init` writes it: gold set, agents, settings and where results go.",
)
@where_options
@click.option(
    "-k",
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request per query, counted in files where targets are files; 100 by default.",
)
@asking_options
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
    asking: Asking,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Search every query of GOLDSET with an engine, score the hits and measure latency.

    A gold set that was mined from Git is searched on the tree before each change: neither moved
    files nor the answer itself are in the way. Targets that are not in the tree are counted, and
    the scores shown with and without them. Each answer is kept as it comes: the same command
    continues after an interruption, and `karat runs` and `karat report` know the outcome.

    \b
    karat evaluate gold.json --engine bm25
    karat evaluate gold.json -e keyword -e bm25 -e rg.yaml -m hit@1,mrr -o report.html
    karat evaluate gold.json --snapshot child --run-out leak.jsonl
    karat evaluate questions.csv --corpus ../project --rev v2.0
    karat evaluate --config benchmark.yaml --agent semantic_search --output results/
    """
    from karat.cli.output.show import single_threaded

    single_threaded()
    from karat.cli.options.agents import chosen
    from karat.experiments.store import ExperimentKind

    found = chosen(
        gold=_one(goldset, gold_option),
        agents=engines,
        config=config,
        k=k,
        inputs=inputs,
        scoring=scoring,
    )
    where = place.where()
    found.carry_out(
        ExperimentKind.EVALUATE, where=where, asking=asking, confidence=confidence, output=output
    )


def _one(argument: str | None, option: str | None) -> str | None:
    if argument and option:
        raise click.UsageError("GOLDSET and --gold-set name the same; give one of them.")
    return argument or option
