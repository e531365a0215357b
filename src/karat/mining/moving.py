"""Where a target of one commit is at another: through renames, changed lines and moved code."""

from collections.abc import Iterable
from typing import NamedTuple

from karat.corpus.definitions import Symbol
from karat.corpus.text_lines import lines_of
from karat.matching.modes import Matcher
from karat.matching.paths import normalise
from karat.mining.diffs import FileDiff
from karat.mining.lookup import NOT_IN_A_TREE, called, defines, defining, find_paths
from karat.mining.renames import Renames
from karat.mining.shift import shifted
from karat.mining.trees import Tree
from karat.model import Target

__all__ = ["Lost", "Mover"]


class Lost(Exception):
    """A target is not there any more; the message says why."""


class _Place(NamedTuple):
    path: str
    start_line: int = 0
    end_line: int = 0


class Mover:
    """Moves targets from the tree *old* to the tree *new*, which differ by *files*.

    *renames* knows more about those that seem to be deleted, and *matcher* is the rule by which
    hits will match the targets.
    """

    def __init__(
        self,
        old: Tree,
        new: Tree,
        *,
        files: Iterable[FileDiff],
        renames: Renames,
        matcher: Matcher,
    ) -> None:
        """Look at nothing yet."""
        self._old = old
        self._new = new
        self._renames = renames
        self._matcher = matcher
        self._changed: dict[str, FileDiff] = {}
        self._followed: set[str] = set()
        self._origins: dict[str, str] = {}
        for file in files:
            change = file.change
            old_path, path = normalise(change.old_path), normalise(change.path)
            if change.status != "A":
                self._changed[old_path] = file
            if change.status in "AMR":
                self._origins[path] = "" if change.status == "A" else old_path

    def move(self, target: Target) -> Target:
        """Return *target* as it is in the new tree, or raise Lost.

        Its spelling stays as long as it still means the same file. A reference that no tree can
        tell about stays as it is.
        """
        if target.ref in NOT_IN_A_TREE:
            return target
        if not target.path:
            if not any(defining(self._new, target.symbol, part=self._matcher.by_symbol)):
                raise Lost(f"nothing defines {target.symbol!r} any more")
            return target
        places = self._places(target)
        still_meant = self._find(self._new, target)
        place = next((place for place in places if place.path in still_meant), None)
        if place is None and len(places) > 1:
            listed = " and ".join(sorted(place.path for place in places))
            raise Lost(f"leads to {len(places)} files: {listed}")
        if place is None:
            ((place, path),) = places.items()
            target = target._replace(path=_renamed(target, path, place.path))
        self._find(self._new, target)
        return target._replace(start_line=place.start_line, end_line=place.end_line)

    def _places(self, target: Target) -> dict[_Place, str]:
        """Return where the files that *target* means are now, with their old paths."""
        paths = self._find(self._old, target)
        if not paths:
            raise Lost(f"no such file at {self._old.short}, where it comes from")
        places: dict[_Place, str] = {}
        reasons: list[Lost] = []
        for path in paths:
            try:
                places[self._place(path, target)] = path
            except Lost as reason:
                reasons.append(reason)
        if not places:
            raise reasons[0]
        return places

    def _find(self, tree: Tree, target: Target) -> list[str]:
        paths = find_paths(tree, target, self._matcher)
        if target.ref == "file_name" and len(paths) > 1:
            raise Lost(f"{len(paths)} files have this name at {tree.short}")
        return paths

    def _place(self, path: str, target: Target) -> _Place:
        try:
            here = self._path(path)
            if target.symbol and not self._defines(here, target.symbol):
                raise Lost(f"{here} does not define {target.symbol!r}")
            return _Place(here, *self._lines(path, here, target))
        except Lost:
            moved = self._moved(path, target) if target.symbol else None
            if moved is None:
                raise
            return moved

    def _path(self, path: str) -> str:
        """Return where the file at *path* is now, or raise Lost."""
        file = self._file(path)
        if file is None:
            return path
        if file.change.status == "D":
            raise Lost("the file was deleted")
        if file.change.status == "T":
            raise Lost("is another kind of file now, such as a link")
        return normalise(file.change.path)

    def _file(self, path: str) -> FileDiff | None:
        """Return how the file at *path* has changed, None if it has not."""
        file = self._changed.get(path)
        if file and file.change.status == "D" and path not in self._followed:
            self._followed.add(path)
            file = self._changed[path] = self._renames.compare(self._old, path) or file
        return file

    def _defines(self, path: str, symbol: str) -> bool:
        return defines(self._new, path, symbol, part=self._matcher.by_symbol)

    def _lines(self, path: str, here: str, target: Target) -> tuple[int, int]:
        """Return the lines that are left; where none is, those of the definition they were in."""
        if not target.end_line:
            return 0, 0
        if target.end_line > len(lines_of(self._old.content(path).text)):
            raise Lost(f"the file had no such lines at {self._old.short}, where it comes from")
        file = self._file(path)
        if file and file.is_binary:
            raise Lost("is binary to Git, which cannot tell what became of its lines")
        lines = shifted(file.hunks if file else (), target.start_line, target.end_line)
        if lines is None:
            found = _called(self._new, here, target.symbol) if target.symbol else []
            if len(found) != 1:
                raise Lost("all of its lines were removed or rewritten")
            lines = found[0].start_line, found[0].end_line
        return lines

    def _moved(self, path: str, target: Target) -> _Place | None:
        """Return where the definition has moved to: the one changed file that did not have it."""
        symbol = target.symbol
        if not _called(self._old, path, symbol):
            return None
        found = [
            (place, definition)
            for place in defining(self._new, symbol, part=False, among=self._origins)
            if not _called(self._old, self._origins[place], symbol)
            for definition in _called(self._new, place, symbol)
        ]
        if len(found) != 1:
            return None
        ((place, definition),) = found
        if not target.end_line:
            return _Place(place)
        return _Place(place, definition.start_line, definition.end_line)


def _called(tree: Tree, path: str, symbol: str) -> list[Symbol]:
    """Return the definitions of *symbol* at *path*, none where there is no such file."""
    found = tree.definitions(path) if path in tree.entries else None
    return called(found or (), symbol, part=False)


def _renamed(target: Target, old: str, new: str) -> str:
    """Return how *target*, which meant the file *old*, is to mean *new*."""
    if target.ref == "file_name":
        return new.rpartition("/")[2]
    if target.ref == "uri" and target.path.endswith(f"/{old}"):
        return target.path.removesuffix(old) + new
    return new
