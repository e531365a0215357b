"""The beginning of an answer: fewer hits or files, and none below a threshold."""

from karat.model import Answer
from karat.runner.depth import of_first_files
from karat.sweep.entries import Entry

__all__ = ["cut"]

# Its scores are cosines, which mean the same for every query.
ABSOLUTE = "dense"


def cut(answer: Answer, entry: Entry, *, files: bool) -> Answer:
    """Return what *entry* would have answered, from an *answer* of its engine that is as deep.

    Scores descend, so that a depth and a threshold both leave a beginning. A threshold is a cosine
    for the engine ``dense``, and for all others a share of the best score of the query.

    >>> from karat.model import Hit
    >>> from karat.model.spec import Spec
    >>> answer = Answer("q1", (Hit("a.py", 8.0), Hit("b.py", 4.0), Hit("c.py", 2.0)))
    >>> entry = Entry("words", Spec("engine", "bm25"), k=3, threshold=0.5)
    >>> [hit.path for hit in cut(answer, entry, files=True).hits]
    ['a.py', 'b.py']
    """
    hits = tuple(of_first_files(answer.hits, entry.k)) if files else answer.hits[: entry.k]
    if entry.threshold and hits:
        best = 1.0 if entry.spec.name == ABSOLUTE else hits[0].score
        hits = tuple(hit for hit in hits if hit.score >= entry.threshold * best)
    return answer._replace(hits=hits)
