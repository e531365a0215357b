"""What mining could not read, and why: counted and listed, so that nothing is missing unseen."""

from collections import Counter
from typing import NamedTuple

from karat.errors import InputError

__all__ = ["Losses", "Unreadable", "lose"]

# A clone without trees or blobs fails at every commit. Starting Git anew after each takes seconds
# up to here; beyond, more would be lost than found.
MOST_UNREADABLE = 1000


class Unreadable(NamedTuple):
    """A commit that Git could not show, and what it said; "" where it could not even go on."""

    commit: str
    reason: str


class Losses:
    """Collects what is left out of one run.

    *unreadable* lists commits, *skipped* counts files by reason, and *notes* says what is worth
    knowing of the repository as a whole.
    """

    __slots__ = ("notes", "skipped", "unreadable")

    def __init__(self) -> None:
        """Start with nothing lost."""
        self.unreadable: list[Unreadable] = []
        self.skipped: Counter[str] = Counter()
        self.notes: list[str] = []


def lose(losses: Losses | None, commit: str, error: InputError) -> None:
    """Add *commit* to *losses*; raise *error* without them, or when there are too many."""
    if losses is None:
        raise error
    if len(losses.unreadable) == MOST_UNREADABLE:
        raise InputError(
            f"{MOST_UNREADABLE} commits cannot be read, expected a complete clone; "
            f"now {commit} because of {error}"
        ) from error
    losses.unreadable.append(Unreadable(commit, str(error)))
