"""Measures of all hits as a set, and of what a reader has to read: lines and tokens."""

from collections.abc import Sequence
from math import inf, nan

from karat.model import JudgedQuery
from karat.scoring.metrics.definition import metric


@metric(
    "Relevant share of all hits, with partial credit.",
    formula="sum of each hit's best credit / hits",
    laws={"ideal", "promotion", "zero"},
    expected_ties=True,
)
def set_precision(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the mean best credit of the returned hits; without partial credit, the relevant share.

    >>> set_precision(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.25
    """
    if not judged.retrieved:
        return 0.0
    credits = judged.credits(level)
    earned = len(judged.relevant(level)) if credits is None else sum(credits.entries)
    return earned / judged.retrieved


@metric(
    "Share of relevant targets found, with partial credit.",
    formula="sum of each target's best credit / targets",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
)
def set_recall(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the mean best credit of the relevant targets; without partial credit, the found share.

    >>> set_recall(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.5
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    credits = judged.credits(level)
    return (len(judged.relevant(level)) if credits is None else sum(credits.targets)) / total


@metric(
    "F1 of all hits, with half credit for a directory above the target.",
    formula="2 P R / (P + R) of set-precision and set-recall; 1 for two empty sets",
    laws={"ideal", "promotion"},
    expected_ties=True,
)
def set_f1(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the harmonic mean of set precision and set recall.

    An empty answer to a query without relevant targets is perfect: 1.

    >>> round(set_f1(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4)), 4)
    0.3333
    """
    if not judged.retrieved and not judged.relevant_count(level):
        return 1.0
    return harmonic_mean(set_precision(judged, level=level), set_recall(judged, level=level))


def harmonic_mean(precision: float, recall: float) -> float:
    """Return the harmonic mean of both, 0 where both are 0.

    >>> harmonic_mean(0.5, 0.5)
    0.5
    """
    return 2.0 * precision * recall / (precision + recall) if precision + recall else 0.0


def _first(column: Sequence[int], k: int | None) -> float:
    """Return the sum of the first *k* entries, NaN if one is unknown."""
    head = column[:k]
    return nan if any(value < 0 for value in head) else float(sum(head))


@metric(
    "Share of returned lines that are in a target.",
    formula="target lines / distinct lines, in the first k hits",
    needs_sizes="lines",
)
def line_precision(judged: JudgedQuery, k: int) -> float:
    """Return the relevant share of the distinct lines in the first *k* hits; 0 for no lines."""
    if judged.sizes is None or judged.sizes.target_lines < 0:
        return nan
    returned = _first(judged.sizes.new_lines, k)
    return _first(judged.sizes.found_lines, k) / returned if returned else 0.0


@metric(
    "Overlap of returned lines and target lines.",
    formula="lines in both / lines in either, in the first k hits",
    needs_sizes="lines",
)
def line_iou(judged: JudgedQuery, k: int) -> float:
    """Return shared lines over all lines, of the first *k* hits and the relevant targets."""
    if judged.sizes is None or judged.sizes.target_lines < 0:
        return nan
    shared = _first(judged.sizes.found_lines, k)
    union = _first(judged.sizes.new_lines, k) + judged.sizes.target_lines - shared
    return shared / union if union else 0.0


@metric(
    "Lines in the first k hits.",
    formula="sum of lines",
    high=inf,
    higher_is_better=False,
    uses_labels=False,
    needs_sizes="lines",
)
def lines(judged: JudgedQuery, k: int) -> float:
    """Return the number of lines in the first *k* hits, with repetitions."""
    return nan if judged.sizes is None else _first(judged.sizes.lines, k)


@metric(
    "Tokens in the first k hits.",
    formula="sum of tokens",
    high=inf,
    higher_is_better=False,
    uses_labels=False,
    needs_sizes="tokens",
)
def tokens(judged: JudgedQuery, k: int) -> float:
    """Return the number of tokens in the first *k* hits."""
    return nan if judged.sizes is None else _first(judged.sizes.tokens, k)


@metric(
    "Tokens up to the first relevant hit.",
    formula="sum of tokens up to that rank; undefined without a relevant hit",
    laws={"padding"},
    high=inf,
    higher_is_better=False,
    needs_sizes="tokens",
)
def tokens_to_hit(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the number of tokens up to and including the first relevant hit, NaN without one."""
    ranks = judged.relevant(level)
    if judged.sizes is None or not ranks:
        return nan
    return _first(judged.sizes.tokens, ranks[0])


@metric(
    "Share of relevant targets found within k tokens: the same as recall@ktok.",
    formula="targets found in hits that fit into k tokens / relevant targets",
    laws={"padding"},
    needs_sizes="tokens",
)
def token_recall(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the share of the relevant targets that are found within *k* tokens."""
    from karat.scoring.metrics.budget import hits_within_budget

    total = judged.relevant_count(level)
    if not total:
        return nan
    hits = hits_within_budget(judged, k)
    return nan if hits is None else sum(rank <= hits for rank in judged.found(level)) / total


@metric(
    "Number of hits.",
    formula="hits, summed",
    high=inf,
    laws={"ideal", "promotion"},
    average="sum",
    expected_ties=True,
)
def num_ret(judged: JudgedQuery) -> float:
    """Return the number of hits.

    >>> num_ret(JudgedQuery([2], [1], ideal=[1], retrieved=5))
    5.0
    """
    return float(judged.retrieved)
