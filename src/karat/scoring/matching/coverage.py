"""Find the chunks of a corpus that cover a target, without a ranking."""

from collections.abc import Iterable

from karat.model import Hit, Target
from karat.scoring.matching.modes import MATCHERS

__all__ = ["Coverage"]


class Coverage:
    """Chunks in order, and which of them a matching mode credits for a target.

    >>> chunks = [Hit("a.py", start_line=1, end_line=9), Hit("a.py", start_line=10, end_line=20)]
    >>> Coverage(chunks, match="lines").of(Target("./a.py", 1.0, 8, 12))
    [0, 1]
    """

    def __init__(
        self, chunks: Iterable[Hit], *, match: str, min_overlap: float = 0.0, root: str = ""
    ) -> None:
        """Index *chunks*; the other parameters are those of ``judge``."""
        self._matcher = MATCHERS.get(match)(min_overlap=min_overlap)
        self._root = root
        self._chunks = [chunk._replace(path=self.spelled(chunk.path)) for chunk in chunks]
        self._of_path: dict[str, list[int]] = {}
        for index, chunk in enumerate(self._chunks):
            self._of_path.setdefault(chunk.path, []).append(index)

    def spelled(self, path: str) -> str:
        """Return *path* in the form that is compared."""
        return self._matcher.spelled(path, self._root)

    def of(self, target: Target) -> list[int]:
        """Return the indexes of the chunks that cover some of *target*."""
        wanted = target._replace(path=self.spelled(target.path))
        near = self._of_path.get(wanted.path)
        if near is None:
            if self._matcher.by_id:
                return []
            # A path pattern may match any file.
            near = list(range(len(self._chunks)))
        return [index for index in near if self._matcher.credit(self._chunks[index], wanted)]

    def holds(self, path: str) -> bool:
        """Return whether a chunk is in the file at *path*; no path means any file."""
        return not path or bool(self.of(Target(path)))
