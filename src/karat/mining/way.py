"""The way of targets to one commit, with a stop where a file was renamed long before.

Between distant commits a file that was renamed and then rewritten looks like one that was deleted
and one that is new. Compared with the commit that renamed it, it is the same file.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from karat.matching.modes import Matcher
from karat.matching.paths import normalise
from karat.mining.diffs import FileDiff, diffs
from karat.mining.history import History
from karat.mining.moving import Lost, Mover
from karat.mining.raw import read_commit
from karat.mining.trees import Tree, Trees
from karat.model import Target

__all__ = ["Way"]

# Trees that the targets of one case stop at.
_STOPS_KEPT = 16


class Way:
    """Moves targets to the commit *to*, at once or by way of the commits that removed their files.

    *to* is a full id, and *matcher* the rule by which hits will match the targets.
    """

    def __init__(self, repository: str, trees: Trees, to: str, matcher: Matcher) -> None:
        """List the files at *to*."""
        self._repository = repository
        self._matcher = matcher
        self._new = trees.at(to)
        self._tree = lru_cache(_STOPS_KEPT)(trees.at)
        self._hop = lru_cache(_STOPS_KEPT)(self._compared)

    def mover(self, old: Tree, files: Sequence[FileDiff]) -> Mover:
        """Return what moves targets of *old* at once, by the *files* that differ there and here."""
        return Mover(old, self._new, files=files, matcher=self._matcher)

    def move(self, mover: Mover, target: Target) -> Target:
        """Return *target* as it is at the end of the way, or raise Lost.

        Each stop is later in history than the one before. Where a way with stops leads nowhere,
        what *mover* finds at once counts.
        """
        stop = self._stop(mover, target)
        if not stop:
            return mover.move(target)
        try:
            there = self._hop(mover.old, self._tree(stop)).move(target)
            return self.move(self._hop(self._tree(stop), self._new), there)
        except Lost as lost:
            try:
                return mover.move(target)
            except Lost:
                raise lost from None

    def _stop(self, mover: Mover, target: Target) -> str:
        """Return the commit that removed the file of *target*, if it is on the way."""
        found = [self._removals.get(path, "") for path in mover.deleted(target)]
        return next((stop for stop in found if stop not in ("", self._new.commit)), "")

    def _compared(self, old: Tree, new: Tree) -> Mover:
        # Of two commits in a line, Git takes the second for the parent of the first.
        ((_, files),) = diffs(self._repository, [f"{new.commit} {old.commit}"])
        return Mover(old, new, files=files, matcher=self._matcher)

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
