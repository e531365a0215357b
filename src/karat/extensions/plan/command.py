"""karat plan: how many queries, clusters and trials detect a difference."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import RunPath
from karat.extension import Number, OutputPath, WholeNumber, put_table

if TYPE_CHECKING:
    from karat.extensions.plan.plan import Plan

BETWEEN = ("settings", "engines", "kinds", "agents", "tasks")
NEEDS_TRIALS = "--trials needs a pilot that repeats queries: what trials vary is not known."


@click.command("plan")
@click.argument("pilot", nargs=-1, type=RunPath(), metavar="[PILOT...]")
@click.option(
    "--difference",
    type=Number(0, min_open=True),
    metavar="D",
    help="The difference that must be detected, in the unit of the measure.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="Measure of the pilot, one; default: its first.",
)
@click.option(
    "--between",
    type=click.Choice(BETWEEN),
    help="Without a pilot: the variance of earlier comparisons, engines by default.",
)
@click.option(
    "--deviation",
    type=Number(0, min_open=True),
    metavar="SD",
    help="Without a pilot: assume this standard deviation of paired differences.",
)
@click.option(
    "--changed",
    type=Number(0, 1, min_open=True),
    metavar="SHARE",
    help="Without a pilot: assume scores of 0 and 1 that differ on this share of the queries.",
)
@click.option(
    "--queries", type=WholeNumber(2), metavar="N", help="Size of the set at hand; default: pilot's."
)
@click.option(
    "--trials",
    type=WholeNumber(1),
    metavar="N",
    help="Trials of each query; default: pilot's, or 1.",
)
@click.option(
    "--cluster", metavar="TAG", help="Tag of the pilot whose queries depend on each other."
)
@click.option(
    "--power",
    type=Number(0.5, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    metavar="P",
    help="In which share of cases the difference must be detected.",
)
@click.option(
    "--level",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    metavar="L",
    help="Level of the interval; 0.95 is a test at 0.05.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "-o", "--output", type=OutputPath(), metavar="FILE", help="Draw the curve into a file: .svg."
)
def command(
    pilot: tuple[str, ...],
    *,
    difference: float | None,
    measures: tuple[str, ...],
    between: str | None,
    deviation: float | None,
    changed: float | None,
    queries: int | None,
    trials: int | None,
    cluster: str | None,
    power: float,
    level: float,
    as_json: bool,
    output: str | None,
) -> None:
    """Say how many queries, clusters and trials detect a difference of two systems.

    PILOT is a small evaluation: a file of scores, or GOLD RUN RUN. Without one, the variance of
    earlier comparisons is taken, or one that you assume.

    \b
    karat plan --difference 0.02
    karat plan scores.csv --difference 0.05 --cluster repository
    karat plan gold.json old.run new.run -m ndcg@10 --difference 0.02 -o plan.svg
    karat plan --changed 0.15 --queries 200 --difference 0.05
    """
    from karat.cli.output.show import put_json
    from karat.extensions.plan.view import plan_chart, plan_json, plan_table

    assumed = [each for each in (between, deviation, changed) if each is not None]
    if len(assumed) + bool(pilot) > 1:
        raise click.UsageError("PILOT, --between, --deviation and --changed replace each other.")
    if not pilot and (measures or cluster):
        raise click.UsageError("-m and --cluster need a PILOT.")
    if len(measures) > 1:
        raise click.UsageError(f"{', '.join(measures)}: a plan is for one measure; give one -m.")
    plan = (
        _from_pilot(pilot, "".join(measures), cluster or "", queries=queries, trials=trials)
        if pilot
        else _assumed(between, deviation, changed, queries=queries, trials=trials)
    )
    plan = replace(plan, difference=difference, power=power, level=level)
    if output is not None:
        from karat.report.svg import svg
        from karat.system.files import write_text

        if os.path.splitext(output)[1].lower() != ".svg":  # noqa: PTH122 - pathlib loads slowly
            raise click.UsageError(f"{output}: the curve is drawn as SVG; expected FILE.svg.")
        write_text(output, svg(plan_chart(plan)))
        click.echo(f"wrote {output}", err=True)
    if as_json:
        put_json(plan_json(plan))
    else:
        put_table(plan_table(plan))


def _from_pilot(
    names: tuple[str, ...], measure: str, cluster: str, *, queries: int | None, trials: int | None
) -> "Plan":
    from karat.extensions.plan.pilot import read_pilot
    from karat.extensions.plan.plan import Plan
    from karat.extensions.scores.readers import ScoreOptions

    pilot = read_pilot(names, measure=measure, cluster=cluster, options=ScoreOptions())
    if trials is not None and trials > 1 and pilot.spread.trials is None:
        raise click.UsageError(NEEDS_TRIALS)
    size = pilot.design.size
    repeated = trials or pilot.design.trials
    units = pilot.design.units if queries is None else max(1, round(queries / size))
    first, other = pilot.systems
    rule = "larger" if pilot.pairs == 2 else "median"
    source = f"pilot: {other} against {first}, {pilot.design.queries} queries"
    if pilot.pairs > 1:
        source += f"; of {pilot.pairs} pairs with {first}, the one with the {rule} spread"
    return Plan(
        pilot.measure,
        source,
        pilot.spread,
        pilot.design._replace(units=units, trials=repeated),
        size=size,
        trials=repeated,
        pilot=pilot,
        largest=pilot.largest,
    )


def _assumed(
    between: str | None,
    deviation: float | None,
    changed: float | None,
    *,
    queries: int | None,
    trials: int | None,
) -> "Plan":
    from karat.extensions.plan.packaged import PACKAGED, hits
    from karat.extensions.plan.plan import Plan
    from karat.extensions.plan.spread import Design, Spread

    if deviation is not None:
        plan = Plan("the measure", "the deviation is an assumption", Spread(deviation))
    elif changed is not None:
        plan = Plan("the share of ones", "the share is an assumption", hits(changed), largest=1.0)
    else:
        known = PACKAGED[between or "engines"]
        source = f"from {known.source}"
        plan = Plan(known.measure, source, known.spread, packaged=known.brief, largest=1.0)
    if trials is not None and trials > 1:
        raise click.UsageError(NEEDS_TRIALS)
    return replace(plan, design=None if queries is None else Design(queries))
