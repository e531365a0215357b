"""At which rank the first relevant hit stands, and what became of every target."""

from collections import Counter
from typing import NamedTuple

from karat.model import QueryStatus
from karat.model.judged import LossReason, Trace
from karat.report.findings.record import Findings

__all__ = ["BINS", "BY_RANK", "Shares", "fate", "fate_of", "fates", "first_rank", "first_ranks"]

# The last rank of each bin and what it is called; what is deeper, or not found, comes after them.
BINS = ((1, "1"), (3, "2-3"), (5, "4-5"), (10, "6-10"))
DEEPER, NOWHERE = "deeper", "not found"
# All that a rank can say of a target that was missed; the engine may know more.
BY_RANK = (LossReason.BELOW_K, LossReason.NOT_RETRIEVED)


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
    wanted = _relevant(findings)
    rows = []
    for run, traces in zip(findings.names, findings.traces, strict=True):
        counts = Counter(
            _bin(first_rank(trace, relevant))
            for trace, relevant in zip(traces, wanted, strict=True)
            if any(relevant)
        )
        rows.append(Shares(run, tuple(counts[name] for name in names)))
    return names, tuple(rows)


def fate(rank: int, status: QueryStatus, k: int) -> LossReason:
    """Return what became of a target that was found at *rank*, 0 for not at all."""
    if rank:
        return LossReason.FOUND if rank <= k else LossReason.BELOW_K
    return LossReason.NOT_RETRIEVED if status is QueryStatus.SCORED else LossReason.UNANSWERED


def fate_of(findings: Findings, run: int, query: int, target: int) -> LossReason:
    """Return what became of a target in a run, each by its place."""
    known = findings.losses.get((run, query, target))
    if known is not None:
        return known
    status = findings.contest.evaluations[run].table.statuses[query]
    return fate(findings.traces[run][query].found[target], status, findings.k)


def fates(findings: Findings) -> tuple[Shares, ...]:
    """Return how many relevant targets of each run met which fate, in the order of Fate."""
    wanted = _relevant(findings)
    rows = []
    for run, name in enumerate(findings.names):
        counts = Counter(
            fate_of(findings, run, query, target)
            for query, relevant in enumerate(wanted)
            for target, counts in enumerate(relevant)
            if counts
        )
        rows.append(Shares(name, tuple(counts[kind] for kind in LossReason)))
    return tuple(rows)


def _relevant(findings: Findings) -> list[tuple[bool, ...]]:
    return [findings.relevant(query) for query in range(len(findings.gold))]


def _bin(rank: int) -> str:
    if not rank:
        return NOWHERE
    return next((name for last, name in BINS if rank <= last), DEEPER)
