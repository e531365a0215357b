"""karat report: everything about one run or several on one page."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.options import Inputs, confidence_options, scoring_options

if TYPE_CHECKING:
    from karat.app.settings import Confidence, Scoring

__all__ = ["command"]


@click.command("report")
@click.argument("gold", type=click.Path(exists=True))
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True), metavar="RUN...")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Where to write; .html, .md, .txt, .csv, .json or .tex decides the format.",
)
@click.option(
    "--charts",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Write charts as PNG and SVG files; needs karat[charts].",
)
@scoring_options
@confidence_options
@click.option(
    "--pairs",
    type=click.Choice(["all", "lead", "baseline"]),
    help="Compare all runs with each other (default for up to 12), only on the first measure "
    "(default for more; on the others with the first run), or each with the first run.",
)
def command(
    gold: str,
    runs: tuple[str, ...],
    output: str | None,
    charts: str | None,
    *,
    pairs: str | None,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
) -> None:
    """Report on RUNs against GOLD; the first is the baseline.

    A page of HTML is one file that loads nothing from anywhere: leaderboard, charts, slices, and
    every query with its hits. Without --by, every tag that tells kinds of queries apart is shown.

    \b
    karat report gold.json keyword.run bm25.run -o report.html
    karat report qrels.txt bm25.run -o report.md -m ndcg@10,recall@100
    karat report gold.json a.jsonl b.jsonl --charts figures
    """
    from karat.cli.show import single_threaded
    from karat.report.draw import drawer

    if output is None and charts is None:
        raise click.UsageError("Nothing to write; expected -o FILE or --charts FOLDER.")
    if output is not None:
        drawer(output)
    single_threaded()
    from datetime import UTC, datetime

    from karat import __version__
    from karat.app.report import load_runs, origin, report
    from karat.formats import read_dataset

    dataset = read_dataset(gold, format=inputs.gold_format, tags=inputs.tags)
    findings = report(
        dataset,
        load_runs(runs, format=inputs.run_format),
        origin=origin(
            dataset,
            runs,
            made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            version=__version__,
        ),
        scoring=scoring,
        confidence=replace(confidence, pairs=pairs),
        by=inputs.by or None,
    )
    if output is not None:
        from karat.formats.atomic import write_text
        from karat.report.draw import draw

        write_text(output, draw(findings, output))
        click.echo(f"wrote {output}", err=True)
    if charts is not None:
        from karat.report.figures import write_figures

        for path in write_figures(findings, charts):
            click.echo(f"wrote {path}", err=True)
