"""A commit on its way to become a case: its files sorted, its question made when first asked for."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import NamedTuple

from karat.mining.candidates import Candidate
from karat.mining.commits import Change, Commit
from karat.mining.messages import opening, query_of
from karat.mining.roles import Role, role_of
from karat.mining.words import content_words

__all__ = ["Draft", "Files", "Sorter"]

_FILE_MODES = ("100644", "100755")
_WORDS = re.compile(r"[a-z0-9]+")


class Files(NamedTuple):
    """The changes of a commit that matter, by what they are."""

    targets: tuple[Change, ...]
    tests: tuple[Change, ...]
    added: int
    roles: frozenset[Role]


class Sorter:
    """Sorts the files of commits; remembers what each path is, since the same ones come again.

    *roles* are those whose files may be targets; a path that *excluded* names is in no truth.
    """

    def __init__(
        self,
        roles: Collection[Role] = (Role.SOURCE,),
        excluded: Callable[[str], bool] | None = None,
    ) -> None:
        """Sort by *roles* and *excluded*."""
        self._wanted = frozenset(roles)
        self._excluded = excluded
        self._roles: dict[str, Role] = {}

    def sort(self, changes: Sequence[Change]) -> Files:
        """Return the files that a search before the change could find, and the rest counted.

        A change of mode alone, a link and a submodule are no targets.
        """
        targets = []
        tests = []
        seen = set()
        added = 0
        known = self._roles
        for change in changes:
            path = change.old_path or change.path
            role = known.get(path)
            if role is None:
                role = known[path] = self._role(path)
            seen.add(role)
            if role in self._wanted:
                if change.status == "A":
                    added += 1
                elif change.old_mode in _FILE_MODES and not _only_mode(change):
                    targets.append(change)
            elif role is Role.TEST:
                tests.append(change)
        return Files(tuple(targets), tuple(tests), added, frozenset(seen))

    def _role(self, path: str) -> Role:
        if self._excluded is not None and self._excluded(path):
            return Role.OTHER
        return role_of(path)


def _only_mode(change: Change) -> bool:
    return change.old_blob == change.new_blob and change.old_path == change.path


class Draft:
    """A commit under examination; what costs time is worked out once, when a rule asks for it."""

    def __init__(self, commit: Commit, files: Files) -> None:
        """Examine *commit*, whose changes are sorted as *files*."""
        self.commit = commit
        self.files = files

    @cached_property
    def subject(self) -> str:
        """The first paragraph of the message, as it was written."""
        return opening(self.commit.message)

    @cached_property
    def said(self) -> list[str]:
        """Every word of the subject, in lower case."""
        return _WORDS.findall(self.subject.lower())

    @cached_property
    def query(self) -> str:
        """The question."""
        return query_of(self.commit.message)

    @cached_property
    def lead(self) -> str:
        """The first word of the question, after its scope."""
        return self.query.rpartition(": ")[2].partition(" ")[0].lower()

    @cached_property
    def words(self) -> set[str]:
        """The words of the question that carry content."""
        return content_words(self.query)

    def candidate(self) -> Candidate:
        """Return what is left when no rule has dropped the commit."""
        return Candidate(self.commit, self.files.targets, self.files.tests, self.query)
