"""Why relevant targets were lost: counted for each run, and in words."""

from collections import Counter
from typing import NamedTuple

from karat.model import QueryStatus
from karat.model.loss_reason import LossReason
from karat.report.findings.ranks import Shares, relevant_targets
from karat.report.findings.record import Findings

__all__ = [
    "BY_RANK",
    "LOSS_REASONS",
    "LossReasonText",
    "listed_reasons",
    "loss_reason_at",
    "loss_reason_counts",
    "loss_reason_of",
    "loss_text",
]


# The loss reasons that follow from a rank; the steps of an engine give more.
BY_RANK = (LossReason.BELOW_K, LossReason.NOT_RETRIEVED)


def loss_reason_at(rank: int, status: QueryStatus, k: int) -> LossReason:
    """Return the loss reason of a target at *rank*; rank 0 means not returned."""
    if rank:
        return LossReason.FOUND if rank <= k else LossReason.BELOW_K
    return LossReason.NOT_RETRIEVED if status is QueryStatus.SCORED else LossReason.UNANSWERED


def loss_reason_of(findings: Findings, run: int, query: int, target: int) -> LossReason:
    """Return the loss reason of a target in a run, by their indexes."""
    known = findings.losses.get((run, query, target))
    if known is not None:
        return known
    status = findings.contest.evaluations[run].table.statuses[query]
    return loss_reason_at(findings.traces[run][query].found[target], status, findings.k)


def loss_reason_counts(findings: Findings) -> tuple[Shares, ...]:
    """Return the number of relevant targets of each run, in the order of LossReason."""
    wanted = relevant_targets(findings)
    rows = []
    for run, name in enumerate(findings.names):
        counts = Counter(
            loss_reason_of(findings, run, query, target)
            for query, relevant in enumerate(wanted)
            for target, counts in enumerate(relevant)
            if counts
        )
        rows.append(Shares(name, tuple(counts[kind] for kind in LossReason)))
    return tuple(rows)


class LossReasonText(NamedTuple):
    """A loss reason in words: *label* in charts and tables, *reason* beside one target.

    *name* is the key in JSON and in the API, *text* the definition, *shade* the colour on a page.
    ``{k}`` and ``{depth}`` in *text* are filled in by :func:`loss_text`.
    """

    name: str
    label: str
    reason: str
    text: str
    shade: str


LOSS_REASONS: dict[LossReason, LossReasonText] = {
    LossReason.FOUND: LossReasonText("found", "found", "found", "in the first {k} hits", "h5"),
    LossReason.BELOW_K: LossReasonText(
        "too low", "ranked below k", "ranked below k", "returned below rank {k}", "h3"
    ),
    LossReason.THRESHOLD: LossReasonText(
        "threshold",
        "threshold",
        "dropped by the threshold",
        "in the first {k} hits, but scored below the threshold",
        "f2",
    ),
    LossReason.RERANKER: LossReasonText(
        "reranker",
        "reranker",
        "moved down by the reranker",
        "moved below rank {k} by the reranker",
        "f3",
    ),
    LossReason.FUSION: LossReasonText(
        "fusion",
        "fusion",
        "moved down by fusion",
        "in the first {k} hits of one stage, below that after fusion",
        "f4",
    ),
    LossReason.NOT_RETRIEVED: LossReasonText(
        "not returned",
        "not retrieved",
        "not retrieved",
        "not among the hits returned (at most {depth})",
        "f5",
    ),
    LossReason.NO_CHUNK: LossReasonText(
        "in no chunk", "in no chunk", "in no chunk", "no chunk of the index covers it", "f6"
    ),
    LossReason.NOT_IN_CORPUS: LossReasonText(
        "not in corpus",
        "not in the corpus",
        "not in the corpus",
        "its file is not in the searched corpus",
        "f7",
    ),
    LossReason.UNANSWERED: LossReasonText(
        "unanswered", "query not answered", "query not answered", "its query failed", "hx"
    ),
}


# Reasons that follow from a run; the others need its engine.
ALWAYS = (LossReason.FOUND, LossReason.BELOW_K, LossReason.NOT_RETRIEVED, LossReason.UNANSWERED)


def listed_reasons(findings: Findings) -> tuple[LossReason, ...]:
    """Return the reasons that a report of *findings* lists: the common ones, and what happened."""
    rows = loss_reason_counts(findings)
    return tuple(
        kind for kind in LossReason if kind in ALWAYS or any(row.counts[kind] for row in rows)
    )


def loss_text(kind: LossReason, findings: Findings) -> str:
    """Return the definition of *kind* in this report."""
    depth = max((trace.retrieved for row in findings.traces for trace in row), default=0)
    return LOSS_REASONS[kind].text.format(k=findings.k, depth=depth)
