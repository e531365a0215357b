"""karat report: everything about one run or several on one page."""

from typing import TYPE_CHECKING

import click

from karat.cli.help import OUTPUT, TieredCommand, option
from karat.cli.options.experiment import losses_option
from karat.cli.options.scoring import pair_options, scoring_options
from karat.cli.options.shared import TITLE, ExtensibleChoice, Inputs, OutputPath, store_option
from karat.cli.output.show import (
    check_schema,
    export_runs,
    schema_names,
    write_charts,
    write_report,
    write_schema,
)
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.report.findings import Findings
    from karat.report.latex import LatexStyle
    from karat.scoring.settings import Confidence, Scoring


@click.command("report", cls=TieredCommand)
@click.argument("names", nargs=-1, required=True, metavar="[GOLD] RUN...")
@option(
    "-o",
    "--output",
    group=OUTPUT,
    common=True,
    type=OutputPath(),
    metavar="FILE",
    help="File to write; its ending sets the format: .html, .md, .txt, .csv, .json, .tex or .svg.",
)
@option(
    "--charts",
    group=OUTPUT,
    common=True,
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Write charts into a folder: SVG files, and PNG files with karatbench[charts].",
)
@option(
    "--schema",
    group=OUTPUT,
    common=True,
    type=ExtensibleChoice(schema_names()),
    default="karat",
    show_default=True,
    help="Schema of .json files (agents: also of .csv): Karat's, or that of another benchmark.",
)
@option(
    "--digits",
    group=OUTPUT,
    type=click.IntRange(0, 6),
    metavar="N",
    help="Digits in a .tex table, 3 by default.",
)
@option("--percent", group=OUTPUT, is_flag=True, help="Multiply the means of a .tex table by 100.")
@option("--intervals", group=OUTPUT, is_flag=True, help="Add confidence intervals to a .tex table.")
@option("--label", group=OUTPUT, metavar="KEY", help=r"Label of a .tex table, for \ref.")
@option("--caption", group=OUTPUT, metavar="TEXT", help="Caption of a .tex table.")
@TITLE
@losses_option
@store_option
@scoring_options
@pair_options
def command(
    names: tuple[str, ...],
    output: str | None,
    charts: str | None,
    *,
    schema: str,
    digits: int | None,
    percent: bool,
    intervals: bool,
    label: str | None,
    caption: str | None,
    title: str,
    losses: bool,
    store: str,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
) -> None:
    """Write a report on run files or stored results.

    An HTML report is one file that loads nothing from the network: verdict, runs, charts, means by
    tag, and every query with its hits. Without --by, results are broken down by every tag with a
    few values.
    A RUN that is not a file is an experiment or a run of the store, which includes its gold set.

    \b
    karat report gold.json keyword.run bm25.run -o report.html
    karat report latest -o report.html --losses
    karat report k3nq.1 k3nq.4 -o report.md -m ndcg@10,recall@100
    karat report latest -o '{engine}.csv' --schema agents
    karat report latest -o measures.svg
    karat report scores.csv -o report.html
    karat report gold.json bm25.run dense.run -o table.tex --digits 3 --label tab:main
    """
    from karat.cli.options.scores import read_scores
    from karat.report.draw import drawer
    from karat.report.latex import LatexStyle

    if output is None and charts is None:
        raise click.UsageError(
            "Nothing to write; add -o report.html (or .md, .txt, .csv, .json, .tex, .svg), or "
            "--charts FOLDER. A browser prints the HTML page as PDF."
        )
    if output is not None:
        drawer(output) if schema == "karat" else check_schema(schema, output)
    style = LatexStyle(
        3 if digits is None else digits, percent, label or "", caption or "", intervals
    )
    if style != LatexStyle() and not str(output).endswith(".tex"):
        raise click.UsageError(
            "--digits, --percent, --intervals, --label and --caption need -o FILE.tex."
        )
    if scored := read_scores(names, inputs, scoring):
        if schema != "karat" or losses:
            raise click.UsageError("--schema and --losses need runs, which have hits.")
        from karat.app.score_files import score_findings

        findings = score_findings(scored, confidence=confidence, by=inputs.by or None, title=title)
        _write(findings, output, charts, style)
        return
    from karat.app.report import gather, make_findings

    report_inputs = gather(
        names,
        store=store,
        reading=inputs.gold,
        run_format=inputs.run_format,
    )
    for remark in report_inputs.remarks:
        click.echo(printable(f"warning: {remark}"), err=True)
    if output is not None and schema != "karat":
        write_schema(schema, export_runs(report_inputs, scoring, confidence), output)
        output = None
    if output is None and charts is None:
        return
    findings = make_findings(report_inputs, scoring, confidence, by=inputs.by or None, title=title)
    if losses:
        from karat.app.loss_reasons import with_losses
        from karat.cli.output.progress import progress_bar

        with progress_bar("explaining") as progress:
            findings = with_losses(findings, progress=progress)
    _write(findings, output, charts, style)


def _write(
    findings: "Findings", output: str | None, charts: str | None, style: "LatexStyle"
) -> None:
    if output is not None:
        write_report(findings, output, latex=style)
    if charts is not None:
        write_charts(findings, charts)
