"""Which of many places cover a target: asked of a whole corpus, not of a ranking."""

from collections.abc import Iterable

from karat.model import Hit, Target
from karat.scoring.matching.modes import MATCHERS

__all__ = ["Coverage"]


class Coverage:
    """Places in order, to be asked which of them a matching mode credits for a target.

    >>> places = [Hit("a.py", start_line=1, end_line=9), Hit("a.py", start_line=10, end_line=20)]
    >>> Coverage(places, match="lines").of(Target("./a.py", 1.0, 8, 12))
    [0, 1]
    """

    def __init__(
        self, places: Iterable[Hit], *, match: str, min_overlap: float = 0.0, root: str = ""
    ) -> None:
        """Take the *places*; the other words are those of ``judge``."""
        self._matcher = MATCHERS.get(match)(min_overlap=min_overlap)
        self._root = root
        self._places = [place._replace(path=self.spelled(place.path)) for place in places]
        self._of_path: dict[str, list[int]] = {}
        for number, place in enumerate(self._places):
            self._of_path.setdefault(place.path, []).append(number)

    def spelled(self, path: str) -> str:
        """Return *path* as it is compared."""
        return self._matcher.spelled(path, self._root)

    def of(self, target: Target) -> list[int]:
        """Return the numbers of the places that cover some of *target*."""
        wanted = target._replace(path=self.spelled(target.path))
        near = self._of_path.get(wanted.path)
        if near is None:
            if self._matcher.by_id:
                return []
            # A path that is not spelled out may mean any file.
            near = list(range(len(self._places)))
        return [number for number in near if self._matcher.credit(self._places[number], wanted)]

    def holds(self, path: str) -> bool:
        """Return whether some place is in the file that *path* means; no path means any."""
        return not path or bool(self.of(Target(path)))
