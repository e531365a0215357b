"""What a reader must know about the trees that were searched."""

from collections.abc import Iterator, Mapping, Sequence

from karat.model.evaluation import CorpusCoverage
from karat.model.timings import RunResult
from karat.report.score_view import queries

__all__ = ["odd_answers", "remarks", "run_remarks", "warning"]

SNAPSHOTS = {
    "parent": "each query on the version before its change (parent)",
    "base": "all queries on one version before all changes (base)",
    "head": "all queries on HEAD (head)",
    "carried": "each query on the version that the gold set was updated to, {revision}",
    "child": "each query on the version after its change (child)",
    "corpus": "all queries on the same documents",
}
CANDIDATES = {"production": "production files, without tests", "all": "all files, including tests"}


def remarks(searched: CorpusCoverage) -> Iterator[str]:
    """Yield what was searched, and which targets are not there, one sentence a line.

    >>> for line in remarks(CorpusCoverage("parent", "r", "production", 250, 24, 31, 400, 0, 0)):
    ...     print(line)
    searched: each query on the version before its change (parent), 250 versions of 24 to 31
    documents
    candidates: production files, without tests
    all 400 targets exist in the searched versions
    """
    size = _range(searched.fewest, searched.most)
    # Of several repositories each commit stands beside a name, and is short already.
    several = " " in searched.revision
    revision = searched.revision if several else searched.revision[:12]
    where = SNAPSHOTS[searched.snapshot].format(revision=revision)
    yield f"searched: {where}, {_trees(searched.trees)} of {size} documents"
    yield f"candidates: {CANDIDATES[searched.candidates]}"
    if not searched.unresolved:
        yield f"all {searched.targets:,} targets exist in the searched versions"
        return
    lost = f" ({queries(searched.lost_queries)} with no other)" if searched.lost_queries else ""
    some_left = searched.unresolved < searched.targets
    yield (
        f"targets: {_gone(searched)} do not exist in the searched version{lost} and count as missed"
        + ("; the table below excludes them" if some_left else "")
    )


def warning(searched: CorpusCoverage) -> str:
    """Return why numbers from these trees mislead, "" where they do not."""
    if searched.snapshot == "head":
        return (
            f"HEAD is not the version that the queries refer to: {_gone(searched)} do not exist "
            "there, and the rest may already contain the answer; use --snapshot parent"
        )
    if searched.snapshot == "child":
        return (
            "the version after a change contains its answer, so these scores are too high; use "
            "--snapshot parent for real scores"
        )
    return ""


def run_remarks(runs: Sequence[RunResult], trees: int) -> Iterator[str]:
    """Yield what indexing *trees* cost the *runs*, and what was odd about their answers.

    >>> from karat.model import Run
    >>> notes = {"work": {"rows": 5_000}, "unstable": ["q1"]}
    >>> for line in run_remarks([RunResult(Run.of([]), None, "", "bm25", notes)], 250):
    ...     print(line)
    work: bm25 indexed 5,000 rows for 250 versions (depends on how workers divide them)
    bm25: not deterministic: 1 query returned different hits when repeated: q1
    """
    # Engines in one process that have as many rows share them, and so does what is cut from the
    # answers of one engine.
    sharing: dict[tuple[object, ...], list[RunResult]] = {}
    for run in runs:
        if work := _work(run):
            together = run.notes.get("together")
            who = tuple(together) if isinstance(together, list) else run.engine
            sharing.setdefault((who, work.get("rows", 0)), []).append(run)
    for (_, rows), group in sharing.items():
        share = "indexed" if len(group) == 1 else "share an index of"
        names = ", ".join(run.name for run in group)
        # Each process indexes what its own trees share, and takes the next when it is free.
        varies = " (depends on how workers divide them)" if trees > 1 else ""
        yield f"work: {names} {share} {rows:,} rows for {_trees(trees)}{varies}{_embedded(group)}"
    for run in runs:
        yield from odd_answers(run)


def odd_answers(measured: RunResult) -> Iterator[str]:
    """Yield the queries whose hits differ between repetitions."""
    unstable = measured.notes.get("unstable")
    if isinstance(unstable, list) and unstable:
        shown = ", ".join(map(str, unstable[:3])) + (", ..." if len(unstable) > 3 else "")
        yield (
            f"{measured.name}: not deterministic: {queries(len(unstable))} returned different hits "
            f"when repeated: {shown}"
        )


def _work(measured: RunResult) -> Mapping[str, int]:
    found = measured.notes.get("work")
    return found if isinstance(found, Mapping) else {}


def _embedded(group: Sequence[RunResult]) -> str:
    """Return what else than rows is counted, with the runs that it is said of if not of all."""
    said: dict[str, list[str]] = {}
    for run in group:
        others = [f"{count:,} {what}" for what, count in _work(run).items() if what != "rows"]
        said.setdefault(", ".join(others), []).append(run.name)
    parts = [
        f", {text}" if len(names) == len(group) else f"; {', '.join(names)}: {text}"
        for text, names in said.items()
        if text
    ]
    return "".join(parts)


def _trees(count: int) -> str:
    return f"{count:,} version{'' if count == 1 else 's'}"


def _gone(searched: CorpusCoverage) -> str:
    share = searched.unresolved / searched.targets if searched.targets else 0.0
    return f"{searched.unresolved:,} of {searched.targets:,} targets ({share:.1%})"


def _range(fewest: int, most: int) -> str:
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
