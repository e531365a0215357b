"""A corpus as a directory, for searches that read files."""

from collections.abc import Mapping
from pathlib import Path

from karat.corpus import Corpus, WorkFolder

__all__ = ["CorpusView"]


class CorpusView:
    """A directory with the documents of a corpus.

    A corpus of a folder is that folder. Any other is a :class:`WorkFolder`, which follows from
    one snapshot to the next and which :meth:`close` removes.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._own: WorkFolder | None = None
        self.root = Path()
        self.show(corpus)

    @property
    def renamed(self) -> Mapping[str, str]:
        """Return the paths of documents that go by another name in the directory."""
        return self._own.renamed if self._own else {}

    def show(self, corpus: Corpus) -> None:
        """Become the directory of *corpus*."""
        if corpus.folder is not None:
            self.close()
            self.root = corpus.folder
        elif self._own is None:
            self._own = WorkFolder(corpus)
            self.root = self._own.root
        else:
            self._own.show(corpus)

    def close(self) -> None:
        """Remove the directory if it is ours; calling it twice is fine."""
        own, self._own = self._own, None
        if own:
            own.close()
