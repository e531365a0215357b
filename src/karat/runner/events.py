"""What a run tells while it goes on, and where its answers are kept as they come."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

from karat.model import Answer
from karat.model.timings import Sample

__all__ = ["Event", "Hooks", "Kind", "Sink"]

Kind = Literal["waiting", "started", "indexed", "restarted", "answered", "finished"]

NO_DETAIL: Mapping[str, object] = MappingProxyType({})


class Event(NamedTuple):
    """Something that happened to *run*: *done* of its *total* queries have ended by now.

    *detail* is what JSON can hold: of ``indexed`` the time, the corpus and its size, of
    ``restarted`` why and the corpus, of ``answered`` the query, how it ended and after how long
    (-1: unknown), of ``finished`` the status.
    ``waiting`` is said once where other work of Karat must end before times can be taken.
    """

    kind: Kind
    run: str
    done: int = 0
    total: int = 0
    detail: Mapping[str, object] = NO_DETAIL


class Sink(Protocol):
    """Keeps answers, each as it ends."""

    def on_answer(self, run: str, answer: Answer, sample: Sample | None) -> None:
        """Keep *answer* of *run*; there is a *sample* where it was answered and timed.

        Called in the thread that started the run.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hooks:
    """How whoever starts a run takes part in it.

    *listen* is told of every event, *sink* of every answer. *skip* holds, by run, the ids of
    queries that have an answer already and are not asked again. *cancelled* is asked between
    queries; once it is true, nothing more is asked, and hits that do not come soon are not waited
    for. All are called in the thread of the caller, except that *cancelled* may be called in any.
    """

    listen: Callable[[Event], None] = lambda _: None
    sink: Sink | None = None
    skip: Mapping[str, Collection[str]] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
