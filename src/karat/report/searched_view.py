"""What a reader must know about the trees that were searched."""

from collections.abc import Iterator, Mapping

from karat.model.searched import Searched, Work
from karat.report.score_view import queries

__all__ = ["dropped_line", "remarks", "warning", "work_line"]

SNAPSHOTS = {
    "parent": "each query on the tree before its change (parent)",
    "base": "all queries on one tree before all changes (base)",
    "head": "all queries on HEAD (head)",
    "carried": "each query on the tree that the set was carried to, {revision}",
    "child": "each query on the tree after its change (child)",
    "corpus": "all queries on the same documents",
}
CANDIDATES = {"production": "production, tests left out", "all": "all, tests among them"}


def remarks(searched: Searched) -> Iterator[str]:
    """Yield what was searched, and which targets are not there, one sentence a line.

    >>> for line in remarks(Searched("parent", "r", "production", 250, 24, 31, 400, 0, 0)):
    ...     print(line)
    searched: each query on the tree before its change (parent), 250 trees of 24 to 31 documents
    candidates: production, tests left out
    targets: all 400 are in the trees searched
    """
    size = _range(searched.fewest, searched.most)
    where = SNAPSHOTS[searched.snapshot].format(revision=searched.revision[:12])
    yield f"searched: {where}, {_trees(searched.trees)} of {size} documents"
    yield f"candidates: {CANDIDATES[searched.candidates]}"
    if not searched.unresolved:
        yield f"targets: all {searched.targets:,} are in the trees searched"
        return
    lost = f" ({queries(searched.lost_queries)} with no other)" if searched.lost_queries else ""
    some_left = searched.unresolved < searched.targets
    yield (
        f"targets: {_gone(searched)} are not in the tree searched{lost} and count as missed"
        + ("; the table below is without them" if some_left else "")
    )


def warning(searched: Searched) -> str:
    """Return why numbers from these trees mislead, "" where they do not."""
    if searched.snapshot == "head":
        return (
            f"HEAD is not the tree that the queries were asked on: {_gone(searched)} are gone, and "
            "what is left may already hold the answer; use --snapshot parent"
        )
    if searched.snapshot == "child":
        return (
            "the tree after a change holds its answer: these scores are too high, and only show "
            "by how much; use --snapshot parent"
        )
    return ""


def work_line(name: str, work: Work, trees: int) -> str:
    """Return what indexing cost, against one tree and against indexing each tree by itself.

    >>> work_line("bm25", Work({"rows": 5_000}, 1_000, 200_000), 250)
    'work: bm25 indexed 5,000 rows for 250 trees, 5.0 times the largest tree (2.5% of each anew)'
    """
    rows = work.counts["rows"]
    others = "".join(f", {n:,} {what}" for what, n in work.counts.items() if what != "rows")
    line = f"work: {name} indexed {rows:,} rows for {_trees(trees)}"
    if trees > 1 and work.largest:
        times, share = rows / work.largest, rows / work.anew
        line += f", {times:.1f} times the largest tree ({share:.1%} of each anew)"
    return line + others


def dropped_line(name: str, counts: Mapping[str, int]) -> str:
    """Return how many hits make no sense, and why.

    >>> dropped_line("rg", {"not in the corpus": 3, "line 0": 1})
    'rg: 4 hits dropped before judging: 3 not in the corpus, 1 line 0'
    """
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    return f"{name}: {sum(counts.values()):,} hits dropped before judging: {reasons}"


def _trees(count: int) -> str:
    return f"{count:,} tree{'' if count == 1 else 's'}"


def _gone(searched: Searched) -> str:
    share = searched.unresolved / searched.targets if searched.targets else 0.0
    return f"{searched.unresolved:,} of {searched.targets:,} targets ({share:.1%})"


def _range(fewest: int, most: int) -> str:
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
