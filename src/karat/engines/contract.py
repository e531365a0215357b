"""The law of engines as a function: what is wrong with an answer."""

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

from karat.corpus import Corpus
from karat.model import Hit

__all__ = ["broken_laws"]


def broken_laws(hits: Sequence[Hit], corpus: Corpus, k: int) -> list[str]:
    """Return what *hits*, the answer to one query, break; nothing where they keep the law.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"a.py": "x = 1"})
    >>> broken_laws([Hit("a.py", 1.0), Hit("b.py", 2.0, 3, 1)], corpus, k=1)
    ['2 hits for k = 1', 'scores are not descending: 1.0 before 2.0', 'b.py is not in the corpus']
    """
    found = [f"{len(hits)} hits for k = {k}"] if len(hits) > k else []
    scores = [hit.score for hit in hits]
    found += [f"score {score} is not finite" for score in scores if not isfinite(score)]
    found += [
        f"scores are not descending: {first} before {second}"
        for first, second in pairwise(scores)
        if first < second
    ]
    places = [hit[:1] + hit[2:5] for hit in hits]
    found += [
        f"{hit.path}:{hit.start_line}-{hit.end_line} comes twice"
        for rank, hit in enumerate(hits)
        if places[rank] in places[:rank]
    ]
    for hit in hits:
        found += _broken_place(hit, corpus)
    return found


def _broken_place(hit: Hit, corpus: Corpus) -> list[str]:
    if hit.path not in corpus.by_path:
        return [f"{hit.path} is not in the corpus"]
    if hit.start_line == hit.end_line == 0:
        return []
    text = corpus.read(hit.path)
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    if 1 <= hit.start_line <= hit.end_line <= lines:
        return []
    return [f"{hit.path} has lines 1-{lines}, not {hit.start_line}-{hit.end_line}"]
