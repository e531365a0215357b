"""karat baseline: the scores that later runs are compared with."""

from typing import TYPE_CHECKING

import click

from karat.cli.commands.gate import read_one_run
from karat.cli.help import OUTPUT, TieredCommand, option
from karat.cli.main import CommandGroup
from karat.cli.options.scoring import judging_options, sample_option
from karat.cli.options.shared import Inputs, OutputPath, store_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.app.baseline import BaselineUpdate
    from karat.model.gate import Baseline
    from karat.model.judgments import LabelUse
    from karat.scoring.settings import Scoring


@click.group("baseline", cls=CommandGroup)
def command() -> None:
    """Store the scores that karat gate --baseline compares with.

    \b
    karat baseline update gold.json bm25.run -o baseline.json
    """


@command.command("update", cls=TieredCommand)
@click.argument("names", nargs=-1, metavar="[GOLD] RUN")
@option(
    "-o",
    "--output",
    group=OUTPUT,
    common=True,
    default="baseline.json",
    show_default=True,
    type=OutputPath(),
    metavar="FILE",
    help="File to write; it is replaced if it exists.",
)
@option("--json", "as_json", group=OUTPUT, common=True, is_flag=True, help="Print JSON.")
@store_option
@judging_options
@sample_option
def update(
    names: tuple[str, ...],
    output: str,
    *,
    as_json: bool,
    human_sample: str | None,
    store: str,
    scoring: "Scoring",
    inputs: Inputs,
) -> None:
    """Score RUN on GOLD and write the scores of every query to a baseline file.

    Commit the file to your repository. Give karat gate the same --match, --ties and similar
    options. A RUN that is not a file is a run of the store, which includes its gold set. A run of
    a sample (karat evaluate --sample, written as .jsonl) gives a baseline of the sampled queries.

    \b
    karat baseline update gold.json bm25.run -o baseline.json
    karat baseline update code.csv run.jsonl -m hit@5,ndcg@10
    karat baseline update latest.1
    karat baseline update scores.csv gpt-5
    """
    from karat.app.baseline import update_baseline
    from karat.cli.options.scores import read_system
    from karat.model.judgments import label_use

    if names and (known := read_system(names, inputs, scoring)):
        from karat.app.score_gate import update_score_baseline

        _tell(update_score_baseline(*known, output), output, None, as_json=as_json)
        return
    dataset, run = read_one_run(names, store, inputs)
    updated = update_baseline(
        dataset,
        run,
        output,
        scoring=scoring,
        human_sample=human_sample,
        run_format=inputs.run_format,
    )
    _tell(updated, output, label_use(dataset), as_json=as_json)
    baseline = updated.baseline
    if baseline.missing:
        count = f"{baseline.missing} of {len(baseline.queries)}"
        click.echo(
            f"warning: {count} queries are missing in the run and count 0; a run of a sample is "
            "known as one only from a .jsonl file of karat evaluate --run-out",
            err=True,
        )


def _tell(updated: "BaselineUpdate", output: str, use: "LabelUse | None", *, as_json: bool) -> None:
    """Show what was written, and what to know about it."""
    from karat.report.display import printable

    baseline, before, other = updated
    (_show_json if as_json else _show)(baseline, before, output, use)
    if use:
        kind = "warning" if use.is_doubtful else "note"
        click.echo(printable(f"{kind}: {use.text}"), err=True)
    if other:
        click.echo("note: the replaced baseline was made for another gold set", err=True)


def _show(
    baseline: "Baseline", before: "Mapping[str, float]", path: str, use: "LabelUse | None"
) -> None:
    from karat.report.table import mark_of, number

    mark = use.mark if use else ""
    sample = f" (a sample of {baseline.sample_of})" if baseline.sample_of else ""
    click.echo(f"wrote {path}: {baseline.name}, {len(baseline.queries)} queries{sample}")
    for measure, mean in baseline.means.items():
        was = f", before {number(before[measure]).text}" if measure in before else ""
        click.echo(f"  {measure}: {number(mean).text}{mark_of(mark, measure)}{was}")


def _show_json(
    baseline: "Baseline", before: "Mapping[str, float]", path: str, use: "LabelUse | None"
) -> None:
    from karat.cli.output.show import put_json

    put_json(
        {
            "written": path,
            "name": baseline.name,
            "queries": len(baseline.queries),
            "sample_of": baseline.sample_of,
            "missing": baseline.missing,
            "deterministic": baseline.deterministic,
            "means": dict(baseline.means),
            "before": {name: before[name] for name in baseline.means if name in before},
            **({"labels": use} if use else {}),
        }
    )
