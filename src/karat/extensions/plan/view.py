"""A plan as a sentence, a table, a chart and JSON."""

from collections.abc import Iterator

from karat.extensions.plan.plan import LEAST_CLUSTERS, LEAST_QUERIES, Plan
from karat.extensions.plan.spread import Design
from karat.report.charts import Chart, Series
from karat.report.table import Cell, Column, Table, number
from karat.system.words import counted

DIGITS = 3
# The chart begins at LEAST units, because a few detect nothing, or only what is huge.
POINTS, LEAST = 60, 12


def sentences(plan: Plan) -> Iterator[str]:
    """Yield what the plan says: what is detected, what is needed, and whether the set is full."""
    if plan.packaged:
        yield f"The spread is a packaged one: {plan.packaged}, {_variation(plan)}."
    if plan.design is not None:
        yield _present(plan, plan.design)
    if plan.difference is not None:
        yield _needed(plan)
    elif plan.design is None:
        few, many = 100, 1_000
        rows = dict(plan.curve((few, many)))
        chosen = plan.trial_choices.index(plan.trials)
        yield (
            f"{few} {_units(plan)} detect a difference of {amount(rows[few][chosen])} in "
            f"{plan.measure}, {many:,} of {amount(rows[many][chosen])}."
        )
    if plan.least is not None and plan.design is not None:
        yield (
            f"More queries in these {plan.design.units} clusters never detect less than "
            f"{amount(plan.least)}: more clusters do."
        )
    if plan.is_saturated and plan.pilot is not None:
        headroom = plan.pilot.headroom or 0.0
        below = f"is {amount(headroom)} below" if headroom else "has"
        yield (
            f"The set is saturated: {plan.pilot.best} {below} the highest {plan.measure}, and all "
            f"systems have it on {plan.pilot.full * 100:.0f} % of the queries. Harder queries "
            "help, not more of them."
        )


def _variation(plan: Plan) -> str:
    """Return a packaged spread in a few words."""
    spread = plan.spread
    if spread.hits:
        return f"{spread.changed * 100:.0f} % of the queries differ"
    return f"deviation {spread.queries:g}"


def _present(plan: Plan, design: Design) -> str:
    size = counted(design.queries, "query")
    if plan.size > 1:
        size += f" in {counted(design.units, 'cluster')}"
    if design.trials > 1:
        size += f" with {design.trials} trials each"
    if plan.present is None:
        return f"{size} detect no difference in {plan.measure}, however large."
    return (
        f"{size} detect a difference of {amount(plan.present)} in {plan.measure} in "
        f"{plan.power * 100:.0f} % of cases."
    )


def _needed(plan: Plan) -> str:
    """Return how many units the difference needs, and how many fewer with more trials."""
    asked = f"{plan.difference:g}"
    if plan.needed is None:
        return f"A difference of {asked} needs more than a million {_units(plan)}."
    text = f"A difference of {asked} needs {plan.needed:,} {_units(plan)}"
    fewer = [
        f"{needed:,} with {trials} trials"
        for trials in plan.trial_choices
        if trials > plan.trials and (needed := plan.needed_with(trials)) and needed < plan.needed
    ]
    trials = f" with {counted(plan.trials, 'trial')} each" if len(plan.trial_choices) > 1 else ""
    return text + trials + (f", {', '.join(fewer)}." if fewer else ".")


def _units(plan: Plan) -> str:
    return f"clusters of {plan.size:.0f} queries" if plan.size > 1 else "queries"


def amount(value: float | None) -> str:
    """Return a difference with three digits that matter.

    >>> amount(0.0321), amount(0.00451), amount(12.04), amount(None)
    ('0.032', '0.0045', '12.0', 'none')
    """
    if value is None:
        return "none"
    return (
        f"{value:.3f}" if 0.01 <= value < 10 else f"{value:.1f}" if value >= 10 else f"{value:.2g}"
    )


def plan_table(plan: Plan) -> Table:
    """Return what sets of several sizes detect."""
    choices = plan.trial_choices
    rows = []
    for units, found in plan.curve(plan.sizes):
        remarks = []
        if plan.design is not None and units == plan.design.units:
            remarks.append("at hand")
        if units == plan.needed:
            remarks.append(f"for {plan.difference:g}")
        rows.append(
            (
                Cell(f"{units:,}", units),
                *((Cell(f"{units * plan.size:,.0f}", units * plan.size),) if plan.size > 1 else ()),
                *(number(each, digits=DIGITS) for each in found),
                Cell(", ".join(remarks)),
            )
        )
    trials = [f"{each} trial{'s' if each > 1 else ''}" for each in choices]
    return Table(
        f"The difference in {plan.measure} that a set detects",
        (
            Column("clusters" if plan.size > 1 else "queries", numeric=True),
            *((Column("queries", numeric=True),) if plan.size > 1 else ()),
            *(
                Column(name, numeric=True)
                for name in (trials if len(choices) > 1 else ["difference"])
            ),
            Column(""),
        ),
        tuple(rows),
        (
            f"two systems, paired test, level {1 - plan.level:.2g}, power {plan.power:g}; "
            f"{_deviations(plan)}",
            plan.source,
        ),
        " ".join(sentences(plan)),
        warnings=tuple(_warnings(plan)),
    )


def _warnings(plan: Plan) -> Iterator[str]:
    if plan.is_uncertain and plan.pilot is not None:
        design = plan.pilot.design
        size = counted(design.units, "query" if design.size == 1 else "cluster")
        least = LEAST_QUERIES if design.size == 1 else LEAST_CLUSTERS
        yield f"a pilot of {size} is uncertain: expected {least} or more"


def _deviations(plan: Plan) -> str:
    spread = plan.spread
    if spread.hits and plan.size == 1:
        return f"scores of 0 and 1 that differ on {spread.changed * 100:.0f} % of the queries"
    parts = [f"{amount(spread.queries)} between queries"]
    parts += [f"{amount(spread.clusters)} between clusters"] if spread.clusters else []
    parts += [f"{amount(spread.trials)} between trials"] if spread.trials else []
    return f"standard deviation of differences: {', '.join(parts)}"


def plan_chart(plan: Plan) -> Chart:
    """Return the curve: the detected difference against the number of units."""
    most = 2 * max((plan.needed or 0, plan.design.units if plan.design else 0)) or max(plan.sizes)
    step = max(1, most // POINTS)
    rows = list(plan.curve(range(max(step, LEAST), most + 1, step)))
    series = []
    for at, trials in enumerate(plan.trial_choices):
        points = [(units, value) for units, found in rows if (value := found[at]) is not None]
        name = f"{trials} trial{'s' if trials > 1 else ''}" if len(plan.trial_choices) > 1 else ""
        series.append(Series(name, tuple(y for _, y in points), tuple(float(x) for x, _ in points)))
    return Chart(
        "lines",
        f"What a set detects in {plan.measure}",
        "clusters" if plan.size > 1 else "queries",
        "difference",
        tuple(series),
        from_zero=True,
    )


def plan_json(plan: Plan) -> dict[str, object]:
    """Return the plan as JSON."""
    pilot = plan.pilot
    return {
        "summary": list(sentences(plan)),
        "measure": plan.measure,
        "source": plan.source,
        "level": plan.level,
        "power": plan.power,
        "spread": plan.spread._asdict(),
        "design": plan.design._asdict() if plan.design else None,
        "detectable": plan.present,
        "difference": plan.difference,
        "cluster_size": plan.size,
        "needed": {str(trials): plan.needed_with(trials) for trials in plan.trial_choices},
        "saturated": plan.is_saturated,
        "headroom": pilot.headroom if pilot else None,
        "full": pilot.full if pilot else None,
        "curve": [
            {"units": units, **dict(zip(map(str, plan.trial_choices), found, strict=True))}
            for units, found in plan.curve(plan.sizes)
        ],
    }
