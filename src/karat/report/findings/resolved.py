"""The means without targets that a search could not find: those in no tree that was searched."""

from karat.report.findings.leaderboard import best_first, mean_cell
from karat.report.findings.record import Findings
from karat.report.score_view import queries
from karat.report.table import Cell, Column, Table
from karat.system.words import counted

__all__ = ["resolved_tables"]


def resolved_tables(findings: Findings) -> tuple[Table, ...]:
    """Return the runs in the order of the leaderboard, or nothing where every target is there.

    It flatters, so that it comes after the one in which such targets count as missed.
    """
    found = findings.resolved
    if found is None:
        return ()
    comparison = found.comparison
    names = [findings.names[run] for run in best_first(findings)]
    said = (
        f"{counted(found.missing, 'target')} left out, {queries(found.queries)} left; in "
        "every other table such a target counts as missed"
    )
    return (
        Table(
            "Without the targets that are not in the tree searched",
            (Column("run"), *(Column(name, numeric=True) for name in comparison.metrics)),
            tuple(
                (
                    Cell(name, name),
                    *(mean_cell(comparison.mean(name, each)) for each in comparison.metrics),
                )
                for name in names
            ),
            (said,),
        ),
    )
