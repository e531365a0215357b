"""What the fates of targets are called, and what each means in a report."""

from typing import NamedTuple

from karat.model.fate import Fate
from karat.report.findings.ranks import fates
from karat.report.findings.record import Findings

__all__ = ["FATES", "FateWords", "fate_text", "told_fates"]


class FateWords(NamedTuple):
    """The name of a fate, what to say of one target, the explanation, and its shade on a page.

    ``{k}`` and ``{depth}`` are filled in by :func:`fate_text`.
    """

    name: str
    reason: str
    text: str
    shade: str


FATES: dict[Fate, FateWords] = {
    Fate.FOUND: FateWords("found", "found", "in the first {k}", "h5"),
    Fate.BELOW_K: FateWords("too low", "below k in every step", "returned below rank {k}", "h3"),
    Fate.THRESHOLD: FateWords(
        "threshold", "dropped by the threshold", "in the first {k}, but below the threshold", "f2"
    ),
    Fate.RERANKER: FateWords(
        "reranker", "moved down by the reranker", "moved below rank {k} by the reranker", "f3"
    ),
    Fate.FUSION: FateWords(
        "fusion",
        "moved down by fusion",
        "in the first {k} of one stage, below that when joined with the others",
        "f4",
    ),
    Fate.NOT_RETRIEVED: FateWords(
        "not returned", "not retrieved", "not among the hits returned (at most {depth})", "f5"
    ),
    Fate.NO_CHUNK: FateWords("in no chunk", "in no chunk", "no chunk of the index covers it", "f6"),
    Fate.NOT_IN_CORPUS: FateWords(
        "not in corpus", "not in the corpus", "its file is not among those searched", "f7"
    ),
    Fate.UNANSWERED: FateWords("unanswered", "query not answered", "its query failed", "hx"),
}
# What a run alone can tell; the others need its engine.
ALWAYS = (Fate.FOUND, Fate.BELOW_K, Fate.NOT_RETRIEVED, Fate.UNANSWERED)


def told_fates(findings: Findings) -> tuple[Fate, ...]:
    """Return the fates that a report of *findings* tells: what always can be, and what happened."""
    rows = fates(findings)
    return tuple(kind for kind in Fate if kind in ALWAYS or any(row.counts[kind] for row in rows))


def fate_text(kind: Fate, findings: Findings) -> str:
    """Return what *kind* means in this report."""
    depth = max((trace.retrieved for row in findings.traces for trace in row), default=0)
    return FATES[kind].text.format(k=findings.k, depth=depth)
