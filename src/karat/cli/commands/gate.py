"""karat gate: check a run against rules; the exit code is for continuous integration."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.help import INPUTS, OUTPUT, TieredCommand, option
from karat.cli.options.gate_presets import (
    ChosenPreset,
    GateOptions,
    GateOutcome,
    GateRequest,
    preset_options,
)
from karat.cli.options.scoring import judging_options, sample_options
from karat.cli.options.shared import (
    Fields,
    Inputs,
    Output,
    OutputPath,
    WholeNumber,
    gather,
    store_option,
)
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.app.benchmark_config import GateConfig
    from karat.app.score import RunSource
    from karat.app.score_files import ScoredFiles
    from karat.model import Dataset
    from karat.model.gate import Baseline, Gate
    from karat.scoring.settings import Confidence, Scoring


class GateOutputs(NamedTuple):
    """Where the outcome is written; the exit code never depends on it."""

    as_json: bool
    details: bool
    junit: str | None
    summary: str | None
    annotations: bool


MORE = "More: --details (reasons, the queries that changed most), --summary FILE.md, --junit FILE"
RULE_GROUP = "Rules"
RULES: Fields = {
    "minimums": option(
        "--min",
        "minimums",
        common=True,
        multiple=True,
        metavar="MEASURE=MEAN",
        help="Minimum mean of a measure, such as hit@5=0.70; may be repeated.",
    ),
    "regressions": option(
        "--max-regression",
        "regressions",
        common=True,
        multiple=True,
        metavar="[MEASURE=]LOSS",
        help="Largest allowed loss of a mean against the baseline, for one measure or for all; by "
        "default a tolerance that shrinks with the number of queries.",
    ),
    "latencies": option(
        "--max-latency",
        "latencies",
        common=True,
        multiple=True,
        metavar="PERCENTILE=TIME",
        help="Maximum latency, such as p90=200ms; may be repeated.",
    ),
    "min_queries": option(
        "--min-queries",
        type=WholeNumber(1),
        default=1,
        show_default=True,
        metavar="N",
        help="A check with fewer queries is inconclusive.",
    ),
    "strict": option(
        "--strict", common=True, is_flag=True, help="An inconclusive check fails the gate too."
    ),
    "lost_hits": option(
        "--max-lost-hits",
        "lost_hits",
        type=WholeNumber(0),
        default=0,
        show_default=True,
        metavar="N",
        help="Most queries with hits in the baseline that may have none now.",
    ),
}

OUTPUTS: Fields = {
    "as_json": option("--json", "as_json", common=True, is_flag=True, help="Print JSON."),
    "details": option(
        "--details",
        is_flag=True,
        help="Print all tables: the reason of each outcome, the queries that changed most, notes.",
    ),
    "junit": option(
        "--junit",
        common=True,
        type=OutputPath(),
        metavar="FILE",
        help="Write JUnit XML, one test case per check.",
    ),
    "summary": option(
        "--summary",
        common=True,
        type=OutputPath(),
        metavar="FILE",
        help="Write a Markdown summary; by default it goes to $GITHUB_STEP_SUMMARY, if set.",
    ),
    "annotations": option(
        "--annotations/--no-annotations",
        default=None,
        help="Print GitHub annotations; on by default in GitHub Actions.",
    ),
}


def _make_outputs(*, annotations: bool | None, **rest: Any) -> GateOutputs:
    import os

    if annotations is None:
        annotations = os.environ.get("GITHUB_ACTIONS") == "true"
    return GateOutputs(annotations=annotations, **rest)


# The rules of the gate: *options*; where its outcome is written: *outputs*.
rule_options = gather("options", GateOptions, RULES, RULE_GROUP)
gate_output_options = gather("outputs", _make_outputs, OUTPUTS, OUTPUT)


def read_one_run(names: tuple[str, ...], store: str, inputs: Inputs) -> "tuple[Dataset, RunSource]":
    """Return the gold set and the run that *names* mean: GOLD and RUN, or an id alone.

    A run file is left to be read as a stream.
    """
    from karat.app.gate import is_engine
    from karat.app.score import read_gold, with_run_as_gold
    from karat.formats import is_source

    if not 1 <= len(names) <= 2:
        raise click.UsageError("Expected GOLD and RUN, or the id of a stored run.")
    if len(names) == 2 and is_engine(names[1]):
        reason = f"{names[1]} is an engine; expected a run"
        raise click.UsageError(f"{reason}; {run_first(names[1], names[0])}")
    if all(is_source(name) for name in names):
        if len(names) == 1:
            raise click.UsageError(f"{names[0]} is a file; expected GOLD and RUN.")
        return read_gold(names[0], **with_run_as_gold(names[0], inputs.gold)), names[1]
    from karat.app.report import gather
    from karat.experiments.run_records import run_with_latencies

    inputs_read = gather(names, store=store, reading=inputs.gold)
    for remark in inputs_read.remarks:
        click.echo(printable(f"warning: {remark}"), err=True)
    if len(inputs_read.runs) > 1:
        raise click.UsageError(
            f"{names[-1]} has {len(inputs_read.runs)} runs; expected one, such as {names[-1]}.1"
        )
    return inputs_read.gold, run_with_latencies(inputs_read.runs[0])


def run_first(engine: str, gold: str = "gold.json") -> str:
    """Return the commands that make a run of *engine* and check it."""
    made = shlex.join(["karat", "evaluate", gold, "-e", engine, "--run-out", "run.jsonl"])
    return f"run the engine first: {made}, then pass run.jsonl as RUN."


def _configure(
    ctx: click.Context, _option: click.Parameter, path: str | None
) -> "GateConfig | None":
    """Use the file for options that are not given."""
    if path is None:
        return None
    from karat.app.benchmark_config import read_gate_config
    from karat.cli.options.shared import make_validator

    config = read_gate_config(path, accepts=make_validator(ctx.command))
    ctx.default_map = dict(config.options)
    return config


FAILED = 1


@click.command("gate", cls=TieredCommand)
@click.argument("names", nargs=-1, metavar="[GOLD] RUN")
@option(
    "--config",
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    is_eager=True,
    callback=_configure,
    help="Configuration file, see karat init: its sections gate and metrics, and its gold set.",
)
@rule_options
@option(
    "--baseline",
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="File of karat baseline update.",
)
@option(
    "--allow-changed-dataset",
    "allow_changed",
    group=INPUTS,
    is_flag=True,
    help="If the gold set has changed, compare the queries that both versions share.",
)
@option(
    "--self-check",
    group=RULE_GROUP,
    is_flag=True,
    help="Gate several runs of one unchanged engine against each other: how often does it flip?",
)
@store_option
@gate_output_options
@judging_options
@sample_options
@preset_options
@click.pass_context
def command(
    ctx: click.Context,
    names: tuple[str, ...],
    baseline: str | None,
    store: str,
    *,
    config: "GateConfig | None",
    preset: ChosenPreset,
    allow_changed: bool,
    self_check: bool,
    options: GateOptions,
    outputs: GateOutputs,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
) -> None:
    """Check RUN against minimum scores, a baseline and maximum latencies.

    The exit code is 0 if every check passes, 1 if one fails, 2 for invalid input, 3 if an
    engine fails. A significant loss against the baseline fails, and for engines that answer
    identically any loss above a small tolerance; other losses above it are inconclusive, which
    fails only with --strict. With --max-regression a loss fails if it is larger and significant.
    A RUN that is not a file is a run of the store, which includes its gold set. A file of scores
    needs no gold set; behind it stands the system to check, unless it has one only.

    \b
    karat gate gold.json new.run --min hit@5=0.70 --min ndcg@10=0.6
    karat gate gold.json new.run --baseline baseline.json --max-regression 0.02
    karat gate gold.json new.jsonl --max-latency p90=200ms --junit gate.xml
    karat gate latest.1 --min hit@5=0.70
    karat gate gold.json --self-check a.jsonl b.jsonl c.jsonl
    karat gate new.run --config karat.yaml
    karat gate --preset octocode --csv benchmark/code.csv --json-out results.json
    """
    if self_check:
        if preset.name or preset.given() or baseline:
            raise click.UsageError("--self-check takes GOLD and runs, without --baseline.")
        failed = _self_check(names, options, scoring, inputs, confidence, as_json=outputs.as_json)
        ctx.exit(FAILED if failed else 0)
    before = _read(baseline)
    preset.check_unused(names)
    if preset.name:
        request = GateRequest(
            names, options, before, scoring, inputs, confidence, store, allow_changed
        )
        outcome = preset.run(request)
    elif known := _scored(names, config, inputs, scoring):
        from karat.app.score_gate import gate_scores

        scored, system = known
        checked = gate_scores(
            scored,
            system,
            options.rules(scored=scored),
            baseline=before,
            confidence=confidence,
            allow_changed=allow_changed,
        )
        outcome = GateOutcome(checked, scoring)
    else:
        from karat.app.gate import gate

        if config and config.gold_set and len(names) == 1 and Path(names[0]).exists():
            names = (config.gold_set, *names)
        if not names:
            raise click.UsageError(
                "Expected GOLD and RUN, a run of the store, or --preset octocode."
            )
        gold, run = read_one_run(names, store, inputs)
        checked = gate(
            gold,
            run,
            options.rules(level=scoring.level),
            baseline=before,
            scoring=scoring,
            confidence=confidence,
            allow_changed=allow_changed,
            run_format=inputs.run_format,
        )
        outcome = GateOutcome(checked, scoring)
    _tell(outcome, outputs, confidence)
    ctx.exit(FAILED if outcome.gate.closed else 0)


def _scored(
    names: tuple[str, ...], config: "GateConfig | None", inputs: Inputs, scoring: "Scoring"
) -> "tuple[ScoredFiles, str] | None":
    """Return the scores and the system that *names* mean, None for a gold set and a run."""
    if not names or (config and config.gold_set):
        return None
    from karat.cli.options.scores import read_system

    return read_system(names, inputs, scoring)


def _self_check(
    names: tuple[str, ...],
    options: GateOptions,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    *,
    as_json: bool,
) -> bool:
    """Show how often the gate flips between runs; return whether it does."""
    from karat.app.gate import self_check
    from karat.app.score import read_gold
    from karat.cli.output import show
    from karat.report.gate_view import self_check_table

    if len(names) < 3:
        raise click.UsageError("Expected GOLD and two or more runs of one unchanged engine.")
    flips = self_check(
        read_gold(names[0], **inputs.gold),
        names[1:],
        options.rules(level=scoring.level),
        scoring=scoring,
        confidence=confidence,
        run_format=inputs.run_format,
    )
    if as_json:
        show.put_json({**flips._asdict(), "verdict": flips.verdict})
    else:
        plain = Output()
        show.put(show.draw_tables([self_check_table(flips)], plain), plain)
    return flips.failed > 0


def _read(baseline: str | None) -> "Baseline | None":
    if baseline is None:
        return None
    from karat.app.baseline import read_baseline

    return read_baseline(baseline)


def _tell(outcome: GateOutcome, outputs: GateOutputs, confidence: "Confidence") -> None:
    from karat.cli.output import show
    from karat.report.gate_view import checks_table, gate_overview, moved_table

    gate = outcome.gate
    if outputs.as_json:
        from karat.report.json import gate_json

        click.echo(gate_json(gate, show.settings_by_name((outcome.scoring, confidence))), nl=False)
    else:
        plain = Output(details=outputs.details)
        if outputs.details:
            drawn = [checks_table(gate), *outcome.tables, moved_table(gate)]
        else:
            drawn = [gate_overview(gate, more=MORE), *outcome.tables]
        show.put(show.draw_tables([table for table in drawn if table], plain), plain)
    if outputs.junit:
        from karat.report.gate_view import junit_xml
        from karat.system.files import write_text

        write_text(outputs.junit, junit_xml(gate))
    _summarise(gate, outputs.summary)
    if outputs.annotations:
        from karat.report.gate_view import annotations

        # Not among the output, which may be JSON; GitHub reads both streams.
        for line in annotations(gate):
            click.echo(line, err=True)


def _summarise(gate: "Gate", path: str | None) -> None:
    """Write the summary to a file, or append it to that of the GitHub step.

    If that file cannot be written, as in some containers, the outcome is the same.
    """
    from karat.report.gate_view import summary

    if path:
        from karat.system.files import write_text

        write_text(path, summary(gate))
    elif step := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with open(step, "a", encoding="utf-8") as stream:  # noqa: PTH123 - as it is named
                stream.write(summary(gate))
        except OSError as error:
            click.echo(
                f"warning: cannot write $GITHUB_STEP_SUMMARY: {step}: {error.strerror}", err=True
            )
