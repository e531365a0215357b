"""The rows of a gate: its checks, and the queries that moved."""

from collections.abc import Sequence

from karat.model.gate import ChangedQuery, Check, Decision, Gate
from karat.report.score_view import queries, text_cell
from karat.report.table import Cell, Column, Table, number

__all__ = ["checks_table", "headline", "moved_table", "rule_text"]

DIGITS = 3
DETECTABLE = "detectable: the smallest true difference that this gold set detects with 80 % power"


def headline(gate: Gate) -> str:
    """Return the outcome in one line."""
    counts = [
        f"{count} {decision.value}"
        for decision in (Decision.FAILED, Decision.INCONCLUSIVE, Decision.PASSED)
        if (count := sum(check.decision is decision for check in gate.checks))
    ]
    against = f" against {gate.baseline}" if gate.baseline else ""
    undecided = gate.closed and gate.decision is Decision.INCONCLUSIVE
    strict = " (fails because of --strict)" if undecided else ""
    return f"Gate {gate.decision.value}{strict}: {gate.name}{against}, {', '.join(counts)}."


def rule_text(check: Check) -> str:
    """Return the rule as a reader says it."""
    if check.rule == "minimum":
        return f"{check.subject} must be at least {check.limit:g}"
    if check.rule == "latency":
        return f"{check.subject} latency must be at most {check.limit:g} ms"
    return f"{check.subject} may lose at most {check.limit:g}"


def checks_table(gate: Gate) -> Table:
    """Return one row per check, the notes of the run and, last, the outcome."""
    rows = tuple(
        (
            Cell(rule_text(check)),
            Cell(check.decision.value),
            Cell(check.why),
            number(check.detectable, digits=DIGITS),
        )
        for check in gate.checks
    )
    columns = (
        Column("rule"),
        Column("outcome"),
        Column("reason"),
        Column("detectable", numeric=True, spare=1),
    )
    notes = gate.notes
    if any(check.detectable for check in gate.checks):
        notes += (DETECTABLE,)
    if gate.verdict:
        notes += (gate.verdict,)
    title = f"{gate.name}, {queries(gate.queries)}"
    return Table(title, columns, rows, notes, conclusion=headline(gate))


def moved_table(gate: Gate) -> Table | None:
    """Return the queries that lost and gained most with their ranks, None where none moved."""
    if not gate.worst and not gate.best:
        return None
    return Table(
        f"{gate.lead}: queries with the largest changes",
        (
            Column("query"),
            Column("before", numeric=True),
            Column("after", numeric=True),
            Column("change", numeric=True),
            Column("rank before", numeric=True),
            Column("rank after", numeric=True),
            Column("text", spare=1),
        ),
        (*_rows(gate.worst), *_rows(tuple(reversed(gate.best)))),
        notes=("rank: rank of the first relevant hit, - if there is none",),
    )


def _rows(moved: Sequence[ChangedQuery]) -> list[tuple[Cell, ...]]:
    return [
        (
            Cell(query.query_id, query.query_id),
            number(query.before, digits=DIGITS),
            number(query.after, digits=DIGITS),
            number(query.after - query.before, signed=True, digits=DIGITS),
            _rank(query.rank_before),
            _rank(query.rank_after),
            text_cell(query.text),
        )
        for query in moved
    ]


def _rank(rank: float | None) -> Cell:
    """Return a rank; the expected one of tied hits need not be whole.

    >>> _rank(3).text, _rank(2.25).text, _rank(None).text
    ('3', '2.25', '-')
    """
    return Cell("-") if rank is None else Cell(f"{rank:.3g}", rank)
