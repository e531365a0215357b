"""karat compare: which run is better, and is it real."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.options import Inputs, Output, confidence_options, output_options, scoring_options

if TYPE_CHECKING:
    from karat.app.settings import Confidence, Scoring

__all__ = ["command"]


@click.command("compare")
@click.argument("gold", type=click.Path(exists=True))
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True), metavar="RUN RUN...")
@scoring_options
@confidence_options
@click.option(
    "--pairs",
    type=click.Choice(["all", "lead", "baseline"]),
    help="Compare all runs with each other (default for up to 12), only on the first measure "
    "(default for more; on the others with the first run), or each with the first run.",
)
@click.option(
    "--correction",
    type=click.Choice(["maxt", "tukey", "holm", "bh", "none"]),
    help="For many comparisons; by default maxt, and holm against a baseline.",
)
@click.option("--wilcoxon", is_flag=True, help="Add Wilcoxon's test, which tests no mean.")
@output_options
def command(
    gold: str,
    runs: tuple[str, ...],
    pairs: str | None,
    correction: str | None,
    *,
    wilcoxon: bool,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Compare RUNs on GOLD; the first is the baseline.

    Every mean and every difference has an interval, every p value is corrected for the number of
    comparisons, and a paragraph says in words what is known and what is inside the noise.

    \b
    karat compare qrels.txt bm25.run hybrid.run
    karat compare code.csv a.json b.json c.json --pairs baseline --by difficulty
    karat compare qrels.txt old.run new.run -m ndcg@10 --per-query --markdown -o diff.md
    """
    from karat.cli.show import show_contest, single_threaded

    single_threaded()
    from karat.app.compare import compare
    from karat.app.sources import load_truth

    truth = load_truth(gold, format=inputs.gold_format, tags=inputs.tags)
    confidence = replace(confidence, pairs=pairs, correction=correction, wilcoxon=wilcoxon)
    contest = compare(
        truth,
        runs,
        scoring=scoring,
        confidence=confidence,
        by=inputs.by,
        run_format=inputs.run_format,
    )
    show_contest(contest, truth, output, settings=(scoring, confidence))
