"""karat score: numbers for one run."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.help import STATISTICS, TieredCommand, option
from karat.cli.options.scoring import sample_options, scoring_options
from karat.cli.options.shared import GoldPath, Inputs, Output, RunPath, output_options
from karat.cli.options.stray import stray

if TYPE_CHECKING:
    from karat.app.score import Truth
    from karat.scoring.settings import Confidence, Scoring


@click.command("score", cls=TieredCommand)
@click.argument("gold", type=GoldPath())
@click.argument("run", type=RunPath())
@stray(
    {"--metric": "a measure"},
    files="expected one run; quote the pattern of its parts ('run/*.parquet') or name their "
    "folder; for several runs: karat compare GOLD RUN RUN",
)
@scoring_options
@option(
    "--ci",
    group=STATISTICS,
    common=True,
    type=click.Choice(["bootstrap", "none"]),
    default="bootstrap",
    show_default=True,
    help="Confidence intervals of the means, or none.",
)
@sample_options
@output_options
def command(
    gold: str,
    run: str,
    ci: str,
    *,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Score RUN against GOLD, with a confidence interval for every mean.

    GOLD contains queries and their targets, RUN the hits of an engine. Formats are detected;
    karat validate FILE shows the format of a file. A folder of Parquet files, or a quoted
    pattern of them, is one run in parts. The exit code is 3 if the run is broken, such as one
    without any hit.

    \b
    karat score qrels.txt bm25.run
    karat score code.csv results.json -m hit@5,mrr@10 --by category
    karat score qrels.txt bm25.run -m "ndcg(gain=exp)@10" --ci none --json
    karat score gold.json bm25.jsonl --human-sample auto
    karat score qrels.txt 'run/*.parquet'
    """
    from karat.app.score import load_judgments

    if ci == "none":
        confidence = replace(confidence, draws=0)
    show_score(
        gold,
        run,
        load_judgments(gold, **inputs.gold),
        scoring=scoring,
        inputs=inputs,
        confidence=confidence,
        output=output,
    )


def show_score(
    gold: str,
    run: str,
    truth: "Truth",
    *,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Show the scores of *run* on *truth*, which was read from *gold*; exit if it is broken."""
    from karat.app.score import score
    from karat.cli.output.show import is_report, show_result, write_page
    from karat.errors import EngineError

    written = is_report(output)
    evaluation = score(
        truth,
        run,
        scoring=scoring,
        confidence=confidence,
        by=inputs.by,
        run_format=inputs.run_format,
    )
    if written:
        write_page((gold, run), inputs, output, settings=(scoring, confidence))
        output = output._replace(path=None)
    show_result(evaluation, truth, output, settings=(scoring, confidence))
    if evaluation.broken:
        click.get_current_context().exit(EngineError.exit_code)
