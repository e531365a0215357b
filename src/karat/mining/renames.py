"""Files that were renamed long ago and rewritten since.

Between distant commits such a file looks like one that was deleted and one that is new. The commit
that renamed it still tells where it went.
"""

from collections.abc import Mapping
from functools import cached_property, lru_cache

from karat.matching.paths import normalise
from karat.mining.diffs import FileDiff, diffs
from karat.mining.history import History
from karat.mining.raw import read_commit
from karat.mining.trees import Tree

__all__ = ["Renames"]

# A percentage: whatever is left of a file is compared.
_HARDLY_ALIKE = 1


class Renames:
    """Where files that are not in the tree *new* any more have gone, by the history behind it."""

    def __init__(self, repository: str, new: Tree) -> None:
        """Read nothing yet."""
        self._repository = repository
        self._new = new
        self._renamed_by = lru_cache(self._renamed)

    def follow(self, path: str) -> str:
        """Return the path in the new tree of what was once at *path*, "" if it was deleted.

        Each rename on the way is later than the one before, hence the way ends.
        """
        while path and path not in self._new.entries:
            commit = self._removals.get(path)
            path = self._renamed_by(commit).get(path, "") if commit else ""
        return path

    def compare(self, old: Tree, path: str) -> FileDiff | None:
        """Return how the file at *path* in *old* differs from what it has become, None if nothing.

        Where not one line in a hundred is left, all its lines are removed.
        """
        there = self.follow(path)
        if not there:
            return None
        ((_, files),) = diffs(
            self._repository,
            [f"{self._new.commit} {old.commit}"],
            alike=_HARDLY_ALIKE,
            paths=(path, there),
        )
        by_status = {file.change.status: file for file in files}
        gone = by_status.get("R") or by_status.get("D")
        return gone and gone._replace(change=gone.change._replace(status="R", path=there))

    @cached_property
    def _removals(self) -> Mapping[str, str]:
        """Return which commit on the first-parent line removed or renamed each path last."""
        chosen = ("--first-parent", self._new.commit)
        removals: dict[str, str] = {}
        for printed in History(self._repository, chosen, 0, None).logged():
            commit = read_commit(printed)
            for change in commit.changes:
                if change.status in "DR":
                    removals.setdefault(normalise(change.old_path), commit.id)
        return removals

    def _renamed(self, commit: str) -> Mapping[str, str]:
        """Return old and new paths of the files that *commit* renamed."""
        ((_, files),) = diffs(self._repository, [commit])
        renamed = (file.change for file in files if file.change.status == "R")
        return {normalise(change.old_path): normalise(change.path) for change in renamed}
