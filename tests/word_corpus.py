"""Small corpora of Python files, some queries for them, and their hits for comparison."""

from collections.abc import Sequence

from karat.corpus import Corpus, from_texts
from karat.model import Hit

QUERIES = ("login with a token", "parse the index", "retry the queue", "merge cache")


def corpus(count: int, *, changed: int = -1) -> Corpus:
    """Return *count* files, of which the file *changed* has a line more."""
    words = ("login", "token", "cache", "index", "parse", "render", "queue", "retry", "merge")
    texts = {
        f"src/{words[number % 9]}_{number}.py": (
            f"def {words[number % 9]}_{words[number % 7]}(value):\n"
            f"    return {words[(number * 5) % 9]}(value, {number})\n"
            + ("    # changed\n" if number == changed else "")
        )
        for number in range(count)
    }
    return from_texts(texts)


def paths_and_scores(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """Return the hits without the last digits of their scores."""
    return [(hit.path, round(hit.score or 0.0, 4)) for hit in hits]
