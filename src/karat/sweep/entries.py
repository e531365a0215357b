"""A configuration as a user compares it: an engine, how deep it looks and what it drops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from karat.errors import InputError, LimitExceeded
from karat.model.repeated import repeated
from karat.model.spec import Spec

__all__ = ["MANY", "MOST", "Entry", "check_count", "check_entries"]

# How many configurations are worth a warning, and how many are refused unless they are allowed.
MANY, MOST = 25, 50
NO_OPTIONS: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a comparison: *spec* asked for *k* hits, without those below *threshold*.

    *options* is what decides it in the words of the user, such as ``search_mode`` or
    ``chunk_size``, as JSON can hold it; reports compare by them.

    >>> Entry("words", Spec("engine", "bm25"), 0)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: words: 0 hits are asked for; expected 1 or more
    """

    name: str
    spec: Spec
    k: int = 100
    threshold: float = 0.0
    options: Mapping[str, object] = field(default_factory=lambda: NO_OPTIONS)

    def __post_init__(self) -> None:
        """Refuse what cannot be meant before anything runs."""
        if not self.name.strip():
            raise InputError("a configuration has no name")
        if self.k < 1:
            raise InputError(f"{self.name}: {self.k} hits are asked for; expected 1 or more")
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"{self.name}: threshold {self.threshold} is not between 0 and 1")


def check_entries(entries: Sequence[Entry]) -> None:
    """Refuse an empty list, and names that two configurations share."""
    if not entries:
        raise InputError("no configuration; expected one or more")
    if twice := repeated(entry.name for entry in entries):
        raise InputError(f"{len(twice)} names stand for several configurations: {', '.join(twice)}")


def check_count(entries: Sequence[Entry], *, allowed: int = MOST) -> str:
    """Return a warning about *entries* that are many, "" for few; too many are refused."""
    count = len(entries)
    if count > allowed:
        raise LimitExceeded(
            f"{count} configurations, at most {allowed} are allowed; leave some values out, or "
            "allow more"
        )
    return f"{count} configurations are many; each takes its own time" if count > MANY else ""
