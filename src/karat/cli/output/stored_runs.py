"""Tables of stored experiments and runs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING

from karat.model.evaluation import Summary
from karat.report.display import age
from karat.report.table import Cell, Column, Table, number, range_cell
from karat.system.words import first_line

if TYPE_CHECKING:
    from karat.experiments.store import Experiment, StoredRun


Scores = Mapping[str, Sequence[Summary]]


# So many engines of an experiment are listed, the best ones.
MOST_ENGINES = 3


def experiments_table(
    experiments: "Sequence[Experiment]", scores: Scores, *, now: datetime | None = None
) -> Table:
    """Return one row for each of *experiments*, with its engines by their leading *scores*."""
    now = now or datetime.now(UTC)
    leads = {_lead(experiment, scores) for experiment in experiments} - {""}
    shared = next(iter(leads)) if len(leads) == 1 else ""
    rows = [
        (
            Cell(experiment.id),
            Cell(age(experiment.created, now=now)),
            Cell(experiment.kind),
            Cell(_gold_name(experiment)),
            Cell(f"{experiment.queries:,}"),
            Cell(revision_of(experiment)),
            Cell("" if experiment.status == "completed" else experiment.status),
            Cell(_engines(experiment, scores, named=not shared)),
        )
        for experiment in experiments
    ]
    columns = (
        Column("id"),
        Column("age"),
        Column("command", spare=3),
        Column("gold set", spare=2),
        Column("queries", numeric=True, spare=4),
        Column("revision", spare=5),
        Column("status"),
        Column(f"engines by {shared}" if shared else "engines"),
    )
    kept = [
        index
        for index, column in enumerate(columns)
        if column.title not in ("revision", "status") or any(row[index].text for row in rows)
    ]
    return Table(
        "",
        tuple(columns[index] for index in kept),
        tuple(tuple(row[index] for index in kept) for row in rows),
    )


def revision_of(experiment: "Experiment") -> str:
    """Return the commit of the folder in which *experiment* was run, "" if it is not known."""
    return str(experiment.environment.get("revision") or "")


def gold_name(experiment: "Experiment") -> str:
    """Return the name of the gold set of *experiment*."""
    return str(experiment.config.get("gold") or experiment.name)


def _gold_name(experiment: "Experiment") -> str:
    """Return the name of the gold set, and that of the experiment if it has its own."""
    gold = gold_name(experiment)
    return gold if experiment.name in ("", gold) else f"{gold} ({experiment.name})"


def _lead(experiment: "Experiment", scores: Scores) -> str:
    """Return the first measure of *experiment*, "" if no run has scores."""
    known = (scores[run.id] for run in experiment.runs if scores.get(run.id))
    return next((summaries[0].measure for summaries in known), "")


def _engines(experiment: "Experiment", scores: Scores, *, named: bool) -> str:
    """Return the best engines with their scores; *named* puts the measure before them."""
    from karat.app.metrics import lower_is_better

    lead = _lead(experiment, scores)
    sign = -1.0 if lead and lower_is_better(lead) else 1.0
    means = {run.id: scores[run.id][0].mean for run in experiment.runs if scores.get(run.id)}
    known = [run for run in experiment.runs if not isnan(means.get(run.id, float("nan")))]
    known.sort(key=lambda run: -sign * means[run.id])
    texts = [f"{run.label} {means[run.id]:.3f}{' (pinned)' if run.pinned else ''}" for run in known]
    texts += [f"{run.label} {run.status}" for run in experiment.runs if run not in known]
    if len(texts) > MOST_ENGINES:
        texts[MOST_ENGINES:] = [f"{len(texts) - MOST_ENGINES} others"]
    return f"{lead}: {', '.join(texts)}" if named and lead else ", ".join(texts)


def runs_table(
    experiment: "Experiment",
    runs: "Sequence[StoredRun]",
    scores: Scores,
    *,
    answered: Mapping[str, int],
) -> Table:
    """Return one row for each of *runs*, with the first of its *scores*.

    *answered* has the number of queries that did not fail, by the id of the run.
    """
    leads = {run: measured[0] for run, measured in scores.items() if measured}
    lead = next((first.measure for first in leads.values()), "")
    sure = any(first.interval for first in leads.values())
    columns = [
        Column("run"),
        Column("status"),
        Column("answered", numeric=True),
        *((Column(lead, numeric=True),) if lead else ()),
        *((Column("interval", numeric=True),) if sure else ()),
        Column("configuration", spare=1),
    ]
    rows = []
    for run in runs:
        count = f"{answered.get(run.id, 0):,} of {experiment.queries:,}"
        cells = [Cell(run.id), Cell(run.status), Cell(count)]
        # The zeros of a run without any answered query are not scores.
        first = leads.get(run.id) if answered.get(run.id) else None
        if lead:
            cells.append(number(first.mean if first else None, digits=3))
        if sure:
            cells.append(range_cell(first.interval if first else None, digits=4))
        rows.append((*cells, Cell(f"{run.label} (pinned)" if run.pinned else run.label)))
    errors = tuple(f"{run.id}: {first_line(run.error)}" for run in runs if run.error)
    title = f"{experiment.id}, {experiment.kind} {experiment.name}".rstrip()
    return Table(title, tuple(columns), tuple(rows), (*_about(experiment), *errors))


def experiment_json(
    experiment: "Experiment",
    runs: "Sequence[StoredRun] | None" = None,
    scores: Scores | None = None,
) -> dict[str, object]:
    """Return *experiment* as JSON can hold it, with all runs unless some are chosen."""
    return {
        "id": experiment.id,
        "name": experiment.name,
        "kind": experiment.kind.value,
        "status": experiment.status,
        "created": experiment.created.isoformat(),
        "dataset": experiment.dataset,
        "queries": experiment.queries,
        "seed": experiment.seed,
        "version": experiment.version,
        "gold": gold_name(experiment),
        "revision": revision_of(experiment) or None,
        "config": experiment.config,
        "environment": experiment.environment,
        "runs": [
            {
                "id": run.id,
                "label": run.label,
                "engine": {"name": run.engine.name, "options": dict(run.engine.params)},
                "metadata": run.metadata,
                "status": run.status.value,
                "error": run.error or None,
                "answers": run.answers,
                "begun": run.begun and run.begun.isoformat(),
                "ended": run.ended and run.ended.isoformat(),
                "pinned": run.pinned,
                "scores": {each.measure: each for each in (scores or {}).get(run.id, ())},
            }
            for run in (experiment.runs if runs is None else runs)
        ],
    }


def _about(experiment: "Experiment") -> tuple[str, ...]:
    revision = revision_of(experiment)
    at = f" at revision {revision}" if revision else ""
    return (
        f"made {experiment.created:%Y-%m-%d %H:%M} by Karat {experiment.version}{at}, "
        f"seed {experiment.seed}; {experiment.queries:,} queries, "
        f"gold set {experiment.dataset[:12]}",
    )
