"""What a reader must know about the trees that were searched."""

from collections.abc import Iterator, Mapping

from karat.model.searched import Searched
from karat.model.timings import Measured
from karat.report.display import counted
from karat.report.score_view import queries

__all__ = ["dropped_line", "odd_answers", "remarks", "run_remarks", "warning"]

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


def run_remarks(measured: Measured, trees: int) -> Iterator[str]:
    """Yield what indexing *trees* cost a run, and what was odd about its answers.

    >>> from karat.model import Run
    >>> notes = {"work": {"rows": 5_000}, "unstable": ["q1"]}
    >>> for line in run_remarks(Measured(Run.of([]), None, "", "bm25", notes), 250):
    ...     print(line)
    work: bm25 indexed 5,000 rows for 250 trees
    bm25: 1 query was answered differently when asked again: q1
    """
    if work := _counts(measured.notes, "work"):
        others = "".join(f", {n:,} {what}" for what, n in work.items() if what != "rows")
        rows = work.get("rows", 0)
        yield f"work: {measured.name} indexed {rows:,} rows for {_trees(trees)}{others}"
    yield from odd_answers(measured)


def odd_answers(measured: Measured) -> Iterator[str]:
    """Yield which hits of a run made no sense, and which queries it answers now so, now so."""
    name, notes = measured.name, measured.notes
    if dropped := _counts(notes, "invalid"):
        yield dropped_line(name, dropped)
    unstable = notes.get("unstable")
    if isinstance(unstable, list) and unstable:
        shown = ", ".join(map(str, unstable[:3])) + (", ..." if len(unstable) > 3 else "")
        were = "was" if len(unstable) == 1 else "were"
        yield (
            f"{name}: {queries(len(unstable))} {were} answered differently when asked again: "
            f"{shown}"
        )


def dropped_line(name: str, counts: Mapping[str, int]) -> str:
    """Return how many hits make no sense, and why.

    >>> dropped_line("rg", {"not in the corpus": 3, "line 0": 1})
    'rg: 4 more invalid hits, dropped before judging: 3 not in the corpus, 1 line 0'
    """
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    dropped = counted(sum(counts.values()), "more invalid hit")
    return f"{name}: {dropped}, dropped before judging: {reasons}"


def _counts(notes: Mapping[str, object], key: str) -> Mapping[str, int]:
    found = notes.get(key)
    return found if isinstance(found, Mapping) else {}


def _trees(count: int) -> str:
    return f"{count:,} tree{'' if count == 1 else 's'}"


def _gone(searched: Searched) -> str:
    share = searched.unresolved / searched.targets if searched.targets else 0.0
    return f"{searched.unresolved:,} of {searched.targets:,} targets ({share:.1%})"


def _range(fewest: int, most: int) -> str:
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
