"""What a reader must know of runs beside their numbers: which are the same, and which are empty."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from karat.model import Outcome, Run
from karat.model.timings import Measured

__all__ = ["ranking_digest", "remarks"]


def remarks(measured: Sequence[Measured]) -> tuple[str, ...]:
    """Return sentences on runs with the same rankings, and on thresholds that drop too much."""
    return (*_same(measured), *_emptied(measured))


def _same(measured: Sequence[Measured]) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for one in measured:
        if one.run.offsets[-1]:
            alike.setdefault(ranking_digest(one.run), []).append(one.name)
    for names in alike.values():
        if len(names) > 1:
            yield f"{len(names)} configurations gave the same rankings: {'; '.join(names)}"


def ranking_digest(run: Run) -> str:
    """Return the hash of all hits in their order, whatever they score."""
    digest = sha256()
    for answer in sorted(run.answers(), key=lambda answer: answer.query_id):
        places = [(hit.path, hit.start_line, hit.end_line) for hit in answer.hits]
        digest.update(repr((answer.query_id, answer.outcome.name, places)).encode())
    return digest.hexdigest()


def _emptied(measured: Sequence[Measured]) -> Iterator[str]:
    for one in measured:
        threshold = one.run.metadata.get("threshold")
        answers = [len(a.hits) for a in one.run.answers() if a.outcome is Outcome.ANSWERED]
        empty = answers.count(0)
        if threshold and empty > len(answers) / 2:
            yield (
                f"{one.name}: threshold {threshold} leaves no hit to {empty} of {len(answers)} "
                "queries"
            )
