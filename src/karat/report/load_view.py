"""What a search bears, as a table: one row for each rate that was offered."""

from collections.abc import Sequence
from typing import Protocol

from karat.report.table import Cell, Column, Table, number

__all__ = ["load_table"]

# Karat itself was busy where it sent queries later than this.
LATE_MS = 10.0


class LoadFigures(Protocol):
    """The figures of one request rate, as in ``karat.experiments.workers.LoadPoint``."""

    @property
    def rate(self) -> float: ...
    @property
    def sent(self) -> int: ...
    @property
    def answered_per_s(self) -> float: ...
    @property
    def errors(self) -> int: ...
    @property
    def unanswered(self) -> int: ...
    @property
    def p50_ms(self) -> float | None: ...
    @property
    def p90_ms(self) -> float | None: ...
    @property
    def p99_ms(self) -> float | None: ...
    @property
    def late_ms(self) -> float: ...
    @property
    def disturbed(self) -> bool: ...


def load_table(points: Sequence[LoadFigures], *, engine: str, seconds: float) -> Table:
    """Return the table of *points*, each offered for *seconds*."""
    headings = ("offered/s", "answered/s", "p50 ms", "p90 ms", "p99 ms", "errors", "no answer")
    rows = tuple(
        (
            Cell(f"{point.rate:g}", point.rate),
            number(point.answered_per_s, digits=1),
            *(number(ms, digits=1) for ms in (point.p50_ms, point.p90_ms, point.p99_ms)),
            Cell(str(point.errors), point.errors),
            Cell(str(point.unanswered), point.unanswered),
        )
        for point in points
    )
    notes = [
        f"each rate lasts {seconds:g} s; latency is measured from the time when a query was due, "
        "so it includes the time in the queue"
    ]
    if any(point.disturbed for point in points):
        notes.append("disturbed: another karat run was active at the same time; repeat")
    late = [point for point in points if point.late_ms > LATE_MS]
    if late:
        rates = ", ".join(f"{point.rate:g}" for point in late)
        worst = max(point.late_ms for point in late)
        notes.append(
            f"Karat could not send {rates} queries per second: some were {worst:.0f} ms late"
        )
    columns = tuple(Column(heading, numeric=True) for heading in headings)
    return Table(f"{engine} under load", columns, rows, notes=tuple(notes))
