"""What karat runs says about experiments and their runs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from karat.model.evaluation import Summary
from karat.report.score_view import interval_cell
from karat.report.table import Cell, Column, Table, number

if TYPE_CHECKING:
    from karat.store import Experiment, StoredRun

__all__ = ["as_json", "experiments_table", "runs_table"]

Scores = Mapping[str, Sequence[Summary]]


def experiments_table(experiments: "Sequence[Experiment]") -> Table:
    """Return one row for each of *experiments*."""
    return Table(
        "",
        (
            Column("id"),
            Column("made"),
            Column("command", spare=2),
            Column("queries", numeric=True, spare=3),
            Column("runs", numeric=True),
            Column("status"),
            Column("name", spare=1),
        ),
        tuple(
            (
                Cell(experiment.id),
                Cell(_moment(experiment.created)),
                Cell(experiment.kind),
                Cell(f"{experiment.queries:,}"),
                Cell(str(len(experiment.runs))),
                Cell(experiment.status),
                Cell(experiment.name),
            )
            for experiment in experiments
        ),
    )


def runs_table(experiment: "Experiment", runs: "Sequence[StoredRun]", scores: Scores) -> Table:
    """Return one row for each of *runs*, with the first of its *scores*."""
    leads = {run: found[0] for run, found in scores.items() if found}
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
        cells = [Cell(run.id), Cell(run.status), Cell(f"{run.answers:,} of {experiment.queries:,}")]
        first = leads.get(run.id)
        if lead:
            cells.append(number(first.mean if first else None, digits=3))
        if sure:
            cells.append(interval_cell(first) if first else Cell("-"))
        rows.append((*cells, Cell(run.label)))
    errors = tuple(f"{run.id}: {run.error}" for run in runs if run.error)
    return Table(_title(experiment), tuple(columns), tuple(rows), (*_about(experiment), *errors))


def as_json(
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
                "scores": {each.measure: each for each in (scores or {}).get(run.id, ())},
            }
            for run in (experiment.runs if runs is None else runs)
        ],
    }


def _title(experiment: "Experiment") -> str:
    return f"{experiment.id}, {experiment.kind} {experiment.name}".rstrip()


def _about(experiment: "Experiment") -> tuple[str, ...]:
    return (
        f"made {_moment(experiment.created)} by Karat {experiment.version}, "
        f"seed {experiment.seed}; {experiment.queries:,} queries, "
        f"gold set {experiment.dataset[:12]}",
    )


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
