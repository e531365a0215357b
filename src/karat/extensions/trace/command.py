"""karat trace: how many calls, tokens, seconds and how much money until agents see the targets."""

from typing import TYPE_CHECKING

import click

from karat.cli.help import INPUTS, OUTPUT, STATISTICS, TieredCommand, option
from karat.cli.options.scoring import comparison_options
from karat.cli.options.shared import (
    GoldPath,
    Inputs,
    Output,
    OutputPath,
    declared,
    gather,
    make_inputs,
)
from karat.cli.options.shared import result_options as output_options

if TYPE_CHECKING:
    from karat.app.score_files import ScoredFiles
    from karat.extensions.trace.arms import TraceResult
    from karat.scoring.settings import Confidence

GOLD = ("by", "tags", "gold_format", "columns", "topics")


@click.command("trace", cls=TieredCommand)
@click.argument("gold", type=GoldPath())
@click.argument(
    "places", nargs=-1, required=True, type=click.Path(exists=True), metavar="TRANSCRIPTS..."
)
@option(
    *("-m", "--metric", "measures"),
    group=STATISTICS,
    common=True,
    multiple=True,
    metavar="NAME",
    help="A measure such as tokens, found or recall@2000tok; repeat or separate with commas.",
)
@option(
    *("--map", "table"),
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Table (CSV, TSV or JSON) of transcripts and the ids of their queries.",
)
@option(
    "--leave-out-leaks",
    group=INPUTS,
    common=True,
    is_flag=True,
    help="Leave out transcripts that may have seen the fix: later commits, a patch, the network.",
)
@option(
    "--horizon",
    group=STATISTICS,
    multiple=True,
    metavar="RESOURCE=VALUE",
    help="What a run counts that never sees a target, such as tokens=50000; by default the most "
    "that any run has used until it did.",
)
@option(
    "--scores",
    group=OUTPUT,
    type=OutputPath(),
    metavar="FILE",
    help="Also write a table of the scores of each run (CSV), for karat baseline and karat gate.",
)
@option(
    "--reader",
    group=INPUTS,
    default="",
    metavar="NAME",
    help="Reader of the transcripts; by default each file says what it is.",
)
@gather("inputs", make_inputs, declared(Inputs, *GOLD), INPUTS)
@comparison_options
@output_options
def command(
    gold: str,
    places: tuple[str, ...],
    measures: tuple[str, ...],
    table: str | None,
    *,
    leave_out_leaks: bool,
    horizon: tuple[str, ...],
    scores: str | None,
    reader: str,
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Measure how agents search, from their transcripts: what it took until they saw the targets.

    TRANSCRIPTS is a file or a folder: ATIF, Harbor jobs, Claude Code, Codex, SWE-agent,
    mini-SWE-agent, OpenHands, Inspect, OpenTelemetry, or a table of searches. With two or more,
    arms are compared on the same queries; the first is the baseline.

    \b
    karat trace gold.json runs/
    karat trace gold.json without-tool/ with-tool/ -o report.html
    karat trace gold.json runs/ -m found,recall@4000tok,cost --map map.csv
    """
    from pathlib import Path

    from karat.app.score import read_gold
    from karat.cli.output.scores import compare_score_files
    from karat.extensions.trace.arms import (
        TraceSettings,
        score_set,
        scored_arms,
        trace,
        understood,
        write_scores,
    )
    from karat.extensions.trace.join import read_table
    from karat.extensions.trace.view import with_timelines
    from karat.report.display import printable

    settings = TraceSettings(
        measures,
        read_table(Path(table)) if table else {},
        reader,
        leave_out_leaks,
        _horizons(horizon),
    )
    traced = trace(read_gold(gold, **inputs.gold), [Path(place) for place in places], settings)
    scored = with_timelines(scored_arms(traced), traced, details=output.details)
    for line in (*understood(traced), *(f"warning: {each}" for each in scored.remarks)):
        click.echo(printable(line), err=True)
    if scores:
        write_scores(score_set(traced), Path(scores))
    if len(traced.arms) > 1:
        compare_score_files(scored, inputs, confidence, output)
    else:
        _show_one(traced, scored, inputs, confidence, output=output)


def _horizons(texts: tuple[str, ...]) -> dict[str, float]:
    given = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            given[name.strip()] = float(value)
        except ValueError:
            raise click.UsageError(
                f"--horizon {text!r}: expected RESOURCE=VALUE, such as tokens=50000."
            ) from None
    return given


def _show_one(
    traced: "TraceResult",
    scored: "ScoredFiles",
    inputs: Inputs,
    confidence: "Confidence",
    *,
    output: Output,
) -> None:
    """Show the measures of one arm with their intervals, and the tables of its transcripts."""
    from dataclasses import replace

    from karat.app.score_files import score_findings, score_system
    from karat.cli.output.show import (
        detail_tables,
        draw_tables,
        is_report,
        overview_tables,
        put,
        show_result,
        write_report,
    )
    from karat.extensions.trace.view import horizon_notes, tables_of
    from karat.scoring.settings import Scoring

    if is_report(output):
        findings = score_findings(
            scored, confidence=confidence, by=inputs.by or None, title=output.title
        )
        write_report(findings, str(output.path))
        output = output._replace(path=None)
    evaluation = score_system(scored, confidence=confidence, by=inputs.by)
    if output.style in ("json", "csv"):
        show_result(evaluation, scored.gold, output, settings=(Scoring(), confidence))
        return
    if output.details:
        first, *rest = detail_tables(evaluation)
    else:
        first, *rest = overview_tables(evaluation, scored.gold, output)
    first = replace(first, notes=(*first.notes, *horizon_notes(traced)))
    tables = [first, *rest, *tables_of(traced, details=output.details)]
    put(draw_tables(tables, output), output)
