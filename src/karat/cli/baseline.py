"""karat baseline: the scores that later runs are held against."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options import Inputs, judging_options

if TYPE_CHECKING:
    from karat.app.settings import Scoring

__all__ = ["command"]


@click.group("baseline")
def command() -> None:
    """Keep the scores that `karat gate --baseline` compares with.

    \b
    karat baseline update gold.json bm25.run -o baseline.json
    """


@command.command("update")
@click.argument("gold", type=click.Path(exists=True))
@click.argument("run", type=click.Path(exists=True))
@click.option(
    "-o",
    "--output",
    default="baseline.json",
    show_default=True,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The file to write, or to replace.",
)
@judging_options
def update(gold: str, run: str, output: str, *, scoring: "Scoring", inputs: Inputs) -> None:
    """Score RUN on GOLD and write every query's scores to a file that belongs into the repository.

    The gate must judge as this did: give it the same --match, --ties and the like.

    \b
    karat baseline update gold.json bm25.run -o baseline.json
    karat baseline update code.csv run.jsonl -m hit@5,ndcg@10
    """
    from datetime import UTC, datetime

    from karat import __version__
    from karat.app.baseline import make_baseline
    from karat.app.sources import load_run, run_name
    from karat.formats import read_dataset
    from karat.formats.baseline import read_baseline, write_baseline
    from karat.report.table import number

    dataset = read_dataset(gold, format=inputs.gold_format)
    before = read_baseline(output).means if Path(output).exists() else {}
    baseline = make_baseline(
        dataset,
        load_run(run, dataset, match=scoring.match, format=inputs.run_format),
        name=run_name(run, 1),
        made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        version=__version__,
        scoring=scoring,
    )
    write_baseline(baseline, output)
    click.echo(f"wrote {output}: {baseline.name}, {len(baseline.queries)} queries")
    for measure, mean in baseline.means.items():
        was = f", before {number(before[measure]).text}" if measure in before else ""
        click.echo(f"  {measure}: {number(mean).text}{was}")
