"""What a run tells while it goes on, and where its answers are kept as they come."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

from karat.model import Answer
from karat.model.timings import Sample

__all__ = ["Event", "Hooks", "Kind", "Sink"]

Kind = Literal["waiting", "started", "indexing", "indexed", "restarted", "answered", "finished"]

NO_DETAIL: Mapping[str, object] = MappingProxyType({})


class Event(NamedTuple):
    """Something that happened to *run*: *done* of its *total* queries have ended by now.

    *detail* is what JSON can hold: of ``indexing`` the *stage* (``loading``, ``indexing`` or
    ``embedding``) with *done* of *total* (0: unknown) and the number of *runs* that share it, of
    ``indexed`` the time, the corpus and its size, of ``restarted`` why and the corpus, of
    ``answered`` the query, how it ended and after how long (-1: unknown), of ``finished`` the
    status. ``indexing`` comes only while indexing takes long, and a few times a second at most.
    ``waiting`` has the *holders*: the karat runs that must end before latency is measured, each
    with *pid*, *command* and *since* (ISO 8601). It comes again whenever they change.
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
    Other karat runs see this one as *command*. Without *wait*, latency is measured at once, also
    where another karat run disturbs it.
    """

    listen: Callable[[Event], None] = lambda _: None
    sink: Sink | None = None
    skip: Mapping[str, Collection[str]] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    command: str = "run"
    wait: bool = True
