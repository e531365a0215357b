"""How each run changes each query against the baseline, best first: the waterfall."""

from math import isnan
from typing import NamedTuple

from karat.report.findings.record import Findings

__all__ = ["Waterfall", "waterfalls"]

# Scores closer than this are equal: sums of the same gains in another order differ by so much.
SAME = 1e-9


class Waterfall(NamedTuple):
    """The changes of one run, descending: ``rows[place]`` is the query of ``changes[place]``."""

    run: int
    name: str
    rows: tuple[int, ...]
    changes: tuple[float, ...]
    improved: int
    same: int
    worse: int


def waterfalls(findings: Findings) -> tuple[Waterfall, ...]:
    """Return one waterfall per run but the baseline, of the queries that both have a score for."""
    measure = findings.change_of
    baseline = findings.scores(0, measure)
    sign = -1 if measure in findings.contest.comparison.lower_is_better else 1
    found = []
    for run in range(1, len(findings.names)):
        changes = [
            (new - old, row)
            for row, (old, new) in enumerate(
                zip(baseline, findings.scores(run, measure), strict=True)
            )
            if not isnan(new - old)
        ]
        changes.sort(key=lambda pair: (-sign * pair[0], pair[1]))
        values = tuple(0.0 if abs(change) < SAME else change for change, _ in changes)
        found.append(
            Waterfall(
                run,
                findings.names[run],
                tuple(row for _, row in changes),
                values,
                improved=sum(sign * value > 0 for value in values),
                same=sum(value == 0 for value in values),
                worse=sum(sign * value < 0 for value in values),
            )
        )
    return tuple(found)
