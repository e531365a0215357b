"""One configuration of a group, and what it has taken so far."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.runner.events import Kind
from karat.runner.plan import Configuration

__all__ = ["Account", "Member", "Tell"]

Tell = Callable[[Kind, Mapping[str, object]], None]


@dataclass(slots=True)
class Account:
    """What one configuration has taken, in one process after the other.

    *failed* says why it cannot be asked any more, "" as long as it can. *index_ns* is the time that
    indexing has taken; what a process has to index because the one before it is gone does not
    count. *together* are the names of all that lived in the same process, whose memory is theirs.
    """

    failed: str = ""
    index_ns: int = 0
    index_bytes: int = 0
    peak_bytes: int = 0
    restarts: int = 0
    work: Mapping[str, int] = field(default_factory=dict)
    corpora: dict[str, None] = field(default_factory=dict)
    together: tuple[str, ...] = ()


class Member(NamedTuple):
    """A configuration, its account, and who hears what becomes of its process."""

    configuration: Configuration
    account: Account
    tell: Tell
