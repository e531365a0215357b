"""The words for loss reasons: why a relevant target is not among the first k hits."""

from typing import NamedTuple

from karat.model.judged import LossReason
from karat.report.findings.ranks import fates
from karat.report.findings.record import Findings

__all__ = ["LOSS_REASONS", "LossReasonText", "loss_text", "told_reasons"]


class LossReasonText(NamedTuple):
    """The name of a loss reason, its words for one target, its definition, its shade on a page.

    ``{k}`` and ``{depth}`` in *text* are filled in by :func:`loss_text`.
    """

    name: str
    reason: str
    text: str
    shade: str


LOSS_REASONS: dict[LossReason, LossReasonText] = {
    LossReason.FOUND: LossReasonText("found", "found", "in the first {k} hits", "h5"),
    LossReason.BELOW_K: LossReasonText(
        "too low", "ranked below k", "returned below rank {k}", "h3"
    ),
    LossReason.THRESHOLD: LossReasonText(
        "threshold",
        "dropped by the threshold",
        "in the first {k} hits, but scored below the threshold",
        "f2",
    ),
    LossReason.RERANKER: LossReasonText(
        "reranker", "moved down by the reranker", "moved below rank {k} by the reranker", "f3"
    ),
    LossReason.FUSION: LossReasonText(
        "fusion",
        "moved down by fusion",
        "in the first {k} hits of one stage, below that after fusion",
        "f4",
    ),
    LossReason.NOT_RETRIEVED: LossReasonText(
        "not returned", "not retrieved", "not among the hits returned (at most {depth})", "f5"
    ),
    LossReason.NO_CHUNK: LossReasonText(
        "in no chunk", "in no chunk", "no chunk of the index covers it", "f6"
    ),
    LossReason.NOT_IN_CORPUS: LossReasonText(
        "not in corpus", "not in the corpus", "its file is not in the corpus searched", "f7"
    ),
    LossReason.UNANSWERED: LossReasonText(
        "unanswered", "query not answered", "its query failed", "hx"
    ),
}
# A run alone shows these; the others need its engine.
ALWAYS = (LossReason.FOUND, LossReason.BELOW_K, LossReason.NOT_RETRIEVED, LossReason.UNANSWERED)


def told_reasons(findings: Findings) -> tuple[LossReason, ...]:
    """Return the reasons that a report of *findings* lists: the common ones, and what happened."""
    rows = fates(findings)
    return tuple(
        kind for kind in LossReason if kind in ALWAYS or any(row.counts[kind] for row in rows)
    )


def loss_text(kind: LossReason, findings: Findings) -> str:
    """Return the definition of *kind* in this report."""
    depth = max((trace.retrieved for row in findings.traces for trace in row), default=0)
    return LOSS_REASONS[kind].text.format(k=findings.k, depth=depth)
