"""Why relevant targets were lost, and at which ranks the first hits were found."""

from collections import Counter
from typing import NamedTuple

from karat.model.judged import Trace
from karat.report.findings.record import Findings
from karat.scoring.loss_reasons import ALWAYS, LOSS_REASONS, LossReason, loss_reason_at

# The last rank of each bin and what it is called; what is deeper, or not found, comes after them.
BINS = ((1, "1"), (3, "2-3"), (5, "4-5"), (10, "6-10"))
DEEPER, NOWHERE = "deeper", "not found"


class Shares(NamedTuple):
    """The things of one run, counted by kind."""

    run: str
    counts: tuple[int, ...]


def first_rank(trace: Trace, relevant: tuple[bool, ...]) -> int:
    """Return the rank of the first hit on a relevant target, 0 without one."""
    ranks = [rank for rank, counts in zip(trace.ranks, relevant, strict=True) if rank and counts]
    return min(ranks, default=0)


def first_ranks(findings: Findings) -> tuple[tuple[str, ...], tuple[Shares, ...]]:
    """Return the names of the bins, and how many judged queries of each run fall in each."""
    names = (*(name for _, name in BINS), DEEPER, NOWHERE)
    relevance = relevant_targets(findings)
    rows = []
    for run, traces in zip(findings.names, findings.traces, strict=True):
        counts = Counter(
            _bin(first_rank(trace, relevant))
            for trace, relevant in zip(traces, relevance, strict=True)
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


def loss_reason_of(findings: Findings, run: int, query: int, target: int) -> LossReason:
    """Return the loss reason of a target in a run, by their indexes."""
    known = findings.losses.get((run, query, target))
    if known is not None:
        return known
    status = findings.contest.evaluations[run].table.statuses[query]
    reason = loss_reason_at(findings.traces[run][query].ranks[target], status, findings.k)
    if reason is LossReason.NOT_RETRIEVED and not findings.searched(run, query, target):
        return LossReason.NOT_IN_CORPUS
    return reason


def loss_reason_counts(findings: Findings) -> tuple[Shares, ...]:
    """Return the number of relevant targets of each run, in the order of LossReason."""
    relevance = relevant_targets(findings)
    rows = []
    for run, name in enumerate(findings.names):
        counts = Counter(
            loss_reason_of(findings, run, query, target)
            for query, relevant in enumerate(relevance)
            for target, counts in enumerate(relevant)
            if counts
        )
        rows.append(Shares(name, tuple(counts[kind] for kind in LossReason)))
    return tuple(rows)


def listed_reasons(findings: Findings) -> tuple[LossReason, ...]:
    """Return the reasons that a report of *findings* lists: the common ones, and what happened.

    Scores without hits have none.
    """
    if not findings.has_hits:
        return ()
    rows = loss_reason_counts(findings)
    return tuple(
        kind for kind in LossReason if kind in ALWAYS or any(row.counts[kind] for row in rows)
    )


def loss_text(kind: LossReason, findings: Findings) -> str:
    """Return the definition of *kind* in this report."""
    depth = max((trace.retrieved for row in findings.traces for trace in row), default=0)
    return LOSS_REASONS[kind].text.format(k=findings.k, depth=depth)
