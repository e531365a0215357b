"""Remarks on runs: those with the same rankings, and those without hits."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from karat.model import Outcome, Run
from karat.model.timings import RunResult
from karat.scoring.matching import MATCHERS

__all__ = ["empty_run_remarks", "ranking_digest", "remarks"]


def remarks(measured: Sequence[RunResult]) -> tuple[str, ...]:
    """Return sentences on runs with the same rankings, and on thresholds that drop too much."""
    return (*_same(measured), *empty_run_remarks(measured))


def _same(measured: Sequence[RunResult]) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for one in measured:
        if one.run.offsets[-1]:
            alike.setdefault(ranking_digest(one.run), []).append(one.name)
    for names in alike.values():
        if len(names) > 1:
            yield f"{len(names)} configurations gave the same rankings: {'; '.join(names)}"


def ranking_digest(run: Run) -> str:
    """Return the hash of all hits in their order, without scores.

    Symbols count if the matching mode of the run uses them.
    """
    digest = sha256()
    match = str(run.metadata.get("match") or "exact")
    by_symbol = match in set(MATCHERS) and MATCHERS.get(match)().by_symbol
    for row in sorted(range(len(run)), key=run.query_ids.__getitem__):
        hits = slice(run.offsets[row], run.offsets[row + 1])
        paths = [run.paths[hit] for hit in range(hits.start, hits.stop)]
        lines = run.start_lines[hits].tolist(), run.end_lines[hits].tolist()
        symbols = [run.symbols[hit] for hit in range(hits.start, hits.stop)] if by_symbol else []
        ranking = (run.query_ids[row], run.outcomes[row], paths, lines, symbols)
        digest.update(repr(ranking).encode())
    return digest.hexdigest()


def empty_run_remarks(measured: Sequence[RunResult]) -> Iterator[str]:
    """Yield a sentence on each run whose threshold leaves most queries without a hit."""
    for one in measured:
        threshold = one.run.metadata.get("threshold")
        offsets = one.run.offsets
        answers = [
            offsets[row + 1] - offsets[row]
            for row, outcome in enumerate(one.run.outcomes)
            if outcome == Outcome.ANSWERED
        ]
        empty = answers.count(0)
        if threshold and empty > len(answers) / 2:
            yield (
                f"{one.name}: threshold {threshold} leaves no hit to {empty} of {len(answers)} "
                "queries"
            )
