"""A commit that may become a case."""

from typing import NamedTuple

from karat.mining.commits import Change, Commit

__all__ = ["Candidate"]


class Candidate(NamedTuple):
    """A commit that may become a case: the files to be found before it, and the question.

    *related_tests* are the tests that it changed; they are kept apart, for they show what the
    change does and do not hold it.
    """

    commit: Commit
    targets: tuple[Change, ...]
    related_tests: tuple[Change, ...]
    query: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the targets before the change, which is where they are searched."""
        return tuple(change.old_path for change in self.targets)
