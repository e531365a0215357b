"""What is shown beside the common tables: recall by budget, and a line for each run."""

from collections.abc import Iterator, Sequence

from karat.app.score_files import ScoredFiles, ScoreView
from karat.extensions.trace.arms import Arm, TraceResult, Trial
from karat.extensions.trace.measures import BUDGETS, at_budget
from karat.extensions.trace.record import StepKind
from karat.model.evaluation import ComparisonResult
from karat.report.section import ReportSection
from karat.report.table import Cell, Column, Table, number
from karat.scoring.settings import Confidence

CALLS = (1, 2, 3, 5, 10, 20, 50)
# A letter for each step of a timeline; that of a step with text of a target is a capital.
LETTERS = {
    StepKind.SHOWN: "v",
    StepKind.SEARCHED: "s",
    StepKind.LISTED: "l",
    StepKind.OTHER: ".",
    StepKind.UNKNOWN: "?",
}
LEGEND = "v viewed, s searched, l listed, . other, ? not understood; V, S: with text of a target"
LONGEST_LINE = 60
MOST_LINES = 500
MOST_MISSED = 20


def budget_tables(traced: TraceResult, *, lines: bool) -> list[Table]:
    """Return the mean recall of each arm by tokens read, then by calls."""
    tables = []
    for unit, budgets in (("tok", BUDGETS), ("calls", CALLS)):
        most = max(_totals(traced, "read-tokens" if unit == "tok" else "calls"), default=0.0)
        few = [budget for budget in budgets if budget < most]
        chosen = [*few, *budgets[len(few) : len(few) + 1]]
        rows = tuple(
            (
                Cell(arm.name, arm.name),
                *(
                    number(_mean_recall(arm, budget, unit, lines=lines), digits=3)
                    for budget in chosen
                ),
            )
            for arm in traced.arms
        )
        what = "tokens read" if unit == "tok" else "calls"
        of = " of the lines of targets" if lines else ""
        tables.append(
            Table(
                f"Recall{of} by {what}",
                (Column("arm"), *(Column(f"{budget:,}", numeric=True) for budget in chosen)),
                rows,
            )
        )
    return tables


def _totals(traced: TraceResult, resource: str) -> Iterator[float]:
    return (trial.progress.totals[resource] for arm in traced.arms for trial in arm.trials)


def _mean_recall(arm: Arm, budget: float, unit: str, *, lines: bool) -> float:
    """Return the mean over queries of the mean over trials."""
    by_query: dict[int, list[float]] = {}
    for trial in arm.trials:
        value = at_budget(trial.progress, budget, unit=unit, lines=lines)
        by_query.setdefault(trial.row, []).append(value)
    means = [sum(values) / len(values) for values in by_query.values()]
    return sum(means) / len(means)


def timeline(trial: Trial) -> str:
    """Return a letter for each step of a run."""
    letters = [
        LETTERS[step.kind].upper() if hit else LETTERS[step.kind]
        for step, hit in zip(trial.steps, trial.progress.hit, strict=True)
    ]
    text = "".join(letters)
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"


def timeline_table(traced: TraceResult) -> Table:
    """Return a row for each run, by query."""
    runs = sorted(
        ((trial.row, at, arm, trial) for at, arm in enumerate(traced.arms) for trial in arm.trials),
        key=lambda run: run[:2],
    )
    rows = []
    last = -1
    for row, _, arm, trial in runs[:MOST_LINES]:
        first = next((n for n, hit in enumerate(trial.progress.hit, 1) if hit), None)
        recall = (trial.progress.recall or (0.0,))[-1]
        name = traced.gold.query_ids[row]
        rows.append(
            (
                Cell(name if row != last else "", name),
                Cell(arm.name, arm.name),
                Cell("-" if first is None else str(first), first),
                number(recall, digits=2),
                Cell(f"{trial.progress.totals['read-tokens']:,.0f}"),
                Cell(timeline(trial) + (" (may have seen the fix)" if trial.leaks else "")),
            )
        )
        last = row
    notes = [LEGEND]
    if len(runs) > MOST_LINES:
        notes.append(f"{len(runs) - MOST_LINES} more runs")
    return Table(
        "Timeline of each run",
        (
            Column("query"),
            Column("arm"),
            Column("found at call", numeric=True),
            Column("recall", numeric=True),
            Column("tokens read", numeric=True),
            Column("steps"),
        ),
        tuple(rows),
        tuple(notes),
        grouped=len(runs) > len({row for row, *_ in runs}),
    )


def problem_tables(traced: TraceResult) -> list[Table]:
    """Return the transcripts that may have seen the fix, and commands that no rule understands."""
    leaking = [
        (Cell(arm.name), Cell(str(trial.transcript.source)), Cell("; ".join(trial.leaks)))
        for arm in traced.arms
        for trial in arm.trials
        if trial.leaks
    ]
    missed = [
        (Cell(arm.name), Cell(command), Cell(str(count), count))
        for arm in traced.arms
        for command, count in list(arm.missed.items())[:MOST_MISSED]
    ]
    leak_columns = (Column("arm"), Column("transcript"), Column("why"))
    missed_columns = (Column("arm"), Column("command"), Column("times", numeric=True))
    tables = [
        Table("Runs that may have seen the fix", leak_columns, tuple(leaking)),
        Table("Commands that no rule understands", missed_columns, tuple(missed)),
    ]
    return [table for table in tables if table.rows]


def tables_of(traced: TraceResult, *, details: bool) -> list[Table]:
    """Return what a terminal shows: recall by tokens, and with *details* all tables."""
    if not details:
        return budget_tables(traced, lines=False)[:1]
    return [*all_budgets(traced), timeline_table(traced), *problem_tables(traced)]


def all_budgets(traced: TraceResult) -> list[Table]:
    """Return the recall of targets by budget, and that of their lines if they have some."""
    lines = any(trial.progress.line_recall for arm in traced.arms for trial in arm.trials)
    return [
        *budget_tables(traced, lines=False),
        *(budget_tables(traced, lines=True) if lines else []),
    ]


def with_timelines(scored: ScoredFiles, traced: TraceResult, *, details: bool) -> ScoredFiles:
    """Return *scored* with a view that has the tables of transcripts, in a report too."""
    plain = scored.view
    notes = tuple(horizon_notes(traced))

    def view(contest: ComparisonResult, confidence: Confidence) -> ScoreView:
        known = plain(contest, confidence)
        return known._replace(
            notes=(*known.notes, *notes),
            tables=(*known.tables, *tables_of(traced, details=details)),
            sections=(*known.sections, *sections_of(traced)),
        )

    return scored._replace(view=view)


def sections_of(traced: TraceResult) -> Sequence[ReportSection]:
    """Return the sections of a report."""
    return (
        ReportSection("Recall by budget", tuple(all_budgets(traced))),
        ReportSection("Timelines", (timeline_table(traced), *problem_tables(traced))),
    )


def horizon_notes(traced: TraceResult) -> list[str]:
    """Return what a run counts that never sees a target."""
    shown = [
        f"{most:,.0f} {name}" if most >= 100 else f"{most:.4g} {name}"
        for name, most in traced.horizon.items()
    ]
    if not shown:
        return []
    tokens = "; read-tokens are those of results, a token for each four characters"
    return [
        f"until the first target was seen; a run that never sees one counts {', '.join(shown)}"
        + (tokens if any("read-tokens" in name for name in traced.measures) else "")
    ]
