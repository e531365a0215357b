"""A search that answers two queries, and the others when a test says so."""

import time
from pathlib import Path

from karat.corpus import Corpus
from karat.model import Hit

AT_ONCE = 2
# Longer than the service leaves between two words of how far a benchmark is.
PAUSE_S = 0.6


class Held:
    """Returns the first document of the corpus for every query."""

    def __init__(self, gate: str) -> None:
        """Wait until the file *gate* says something else."""
        self._gate = Path(gate)
        self._answered = 0

    def index(self, corpus: Corpus) -> None:
        """Take the first document, and see how the gate is shut."""
        self._first = min(document.path for document in corpus)
        self._shut = self._gate.read_text(encoding="utf-8")

    def search(self, query: str, k: int) -> list[Hit]:
        """Return it, sooner or later."""
        self._answered += 1
        time.sleep(PAUSE_S)
        while self._answered > AT_ONCE and self._gate.read_text(encoding="utf-8") == self._shut:
            time.sleep(0.05)
        return [Hit(self._first, score=1.0)]
