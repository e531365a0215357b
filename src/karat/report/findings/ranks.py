"""The ranks of first relevant hits, and the loss reasons of targets."""

from collections import Counter
from typing import NamedTuple

from karat.model.judged import Trace
from karat.report.findings.record import Findings

__all__ = ["BINS", "Shares", "first_rank", "first_ranks", "relevant_targets"]

# The last rank of each bin and what it is called; what is deeper, or not found, comes after them.
BINS = ((1, "1"), (3, "2-3"), (5, "4-5"), (10, "6-10"))
DEEPER, NOWHERE = "deeper", "not found"


class Shares(NamedTuple):
    """The things of one run, counted by kind."""

    run: str
    counts: tuple[int, ...]


def first_rank(trace: Trace, relevant: tuple[bool, ...]) -> int:
    """Return the rank of the first hit on a relevant target, 0 without one."""
    ranks = [rank for rank, counts in zip(trace.found, relevant, strict=True) if rank and counts]
    return min(ranks, default=0)


def first_ranks(findings: Findings) -> tuple[tuple[str, ...], tuple[Shares, ...]]:
    """Return the names of the bins, and how many judged queries of each run fall in each."""
    names = (*(name for _, name in BINS), DEEPER, NOWHERE)
    wanted = relevant_targets(findings)
    rows = []
    for run, traces in zip(findings.names, findings.traces, strict=True):
        counts = Counter(
            _bin(first_rank(trace, relevant))
            for trace, relevant in zip(traces, wanted, strict=True)
            if any(relevant)
        )
        rows.append(Shares(run, tuple(counts[name] for name in names)))
    return names, tuple(rows)


def relevant_targets(findings: Findings) -> list[tuple[bool, ...]]:
    """Return for each query which of its targets are relevant."""
    return [findings.relevant(query) for query in range(len(findings.gold))]


def _bin(rank: int) -> str:
    if not rank:
        return NOWHERE
    return next((name for last, name in BINS if rank <= last), DEEPER)
