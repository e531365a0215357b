"""Which run has which colour, in all charts alike."""

from karat.report.findings import Findings
from karat.report.findings.leaderboard import best_first

__all__ = ["COLOURS", "colours"]

# The style sheet names so many colours, told apart by those who see red and green alike; each has
# a marker and a dash of its own besides.
COLOURS = 8
OTHER = "cx"


def colours(findings: Findings) -> tuple[str, ...]:
    """Return the class of each run: c0 to c7, and cx for those that must share grey.

    Of many runs the baseline and the best have colours.
    """
    runs = len(findings.names)
    if runs <= COLOURS:
        return tuple(f"c{run}" for run in range(runs))
    order = [0, *filter(None, best_first(findings))]
    place = {run: number for number, run in enumerate(order)}
    return tuple(f"c{place[run]}" if place[run] < COLOURS else OTHER for run in range(runs))
