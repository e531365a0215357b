"""The words for loss reasons: why a relevant target is not among the first k hits."""

from typing import NamedTuple

from karat.model.fate import Fate
from karat.report.findings.ranks import fates
from karat.report.findings.record import Findings

__all__ = ["LOSS_REASONS", "LossReason", "loss_text", "told_reasons"]


class LossReason(NamedTuple):
    """The name of a loss reason, its words for one target, its definition, its shade on a page.

    ``{k}`` and ``{depth}`` in *text* are filled in by :func:`loss_text`.
    """

    name: str
    reason: str
    text: str
    shade: str


LOSS_REASONS: dict[Fate, LossReason] = {
    Fate.FOUND: LossReason("found", "found", "in the first {k} hits", "h5"),
    Fate.BELOW_K: LossReason("too low", "ranked below k", "returned below rank {k}", "h3"),
    Fate.THRESHOLD: LossReason(
        "threshold",
        "dropped by the threshold",
        "in the first {k} hits, but scored below the threshold",
        "f2",
    ),
    Fate.RERANKER: LossReason(
        "reranker", "moved down by the reranker", "moved below rank {k} by the reranker", "f3"
    ),
    Fate.FUSION: LossReason(
        "fusion",
        "moved down by fusion",
        "in the first {k} hits of one stage, below that after fusion",
        "f4",
    ),
    Fate.NOT_RETRIEVED: LossReason(
        "not returned", "not retrieved", "not among the hits returned (at most {depth})", "f5"
    ),
    Fate.NO_CHUNK: LossReason(
        "in no chunk", "in no chunk", "no chunk of the index covers it", "f6"
    ),
    Fate.NOT_IN_CORPUS: LossReason(
        "not in corpus", "not in the corpus", "its file is not in the corpus searched", "f7"
    ),
    Fate.UNANSWERED: LossReason("unanswered", "query not answered", "its query failed", "hx"),
}
# A run alone shows these; the others need its engine.
ALWAYS = (Fate.FOUND, Fate.BELOW_K, Fate.NOT_RETRIEVED, Fate.UNANSWERED)


def told_reasons(findings: Findings) -> tuple[Fate, ...]:
    """Return the reasons that a report of *findings* lists: the common ones, and what happened."""
    rows = fates(findings)
    return tuple(kind for kind in Fate if kind in ALWAYS or any(row.counts[kind] for row in rows))


def loss_text(kind: Fate, findings: Findings) -> str:
    """Return the definition of *kind* in this report."""
    depth = max((trace.retrieved for row in findings.traces for trace in row), default=0)
    return LOSS_REASONS[kind].text.format(k=findings.k, depth=depth)
