"""Executors: where worker processes run, and their slots."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from karat.errors import UnknownName
from karat.experiments.executors.fingerprint import Fingerprint
from karat.experiments.workers.sources import AssetPart
from karat.experiments.workers.unit import SlotEvent, Unit
from karat.registry import Registry


class Slot(NamedTuple):
    """Room for one worker: its *id*, the name of its *machine*, and what is installed there.

    Without a *fingerprint* the slot is in the installation of this process. *problem* says why it
    cannot be used at all, "" if it can. Embed units run on slots with a *gpu*, if there are any.
    """

    id: str
    machine: str
    fingerprint: Fingerprint | None = None
    problem: str = ""
    gpu: bool = False


class SlotPool(Protocol):
    """The slots of an executor while it is connected. It only carries units and events.

    The contract: a unit that was sent leads to its events in order, the last of which is
    ``UnitEnded``, ``UnitLost`` or ``SlotRejected``. A slot that dies may send nothing more; it is
    then missing in :meth:`slots`. A slot keeps the session of an engine group between units. All
    methods but :meth:`provide` are called in one thread. What decides which unit runs where is in
    ``karat.experiments.executors.schedule``.
    """

    def slots(self) -> Sequence[Slot]:
        """Return the slots that are alive; called about once a second."""
        ...

    def send(self, slot: str, unit: Unit) -> None:
        """Let the idle *slot* run *unit*; failures become events."""
        ...

    def receive(self, timeout_s: float) -> SlotEvent | None:
        """Return the next event of any slot; None if there is none within *timeout_s*."""
        ...

    def provide(self, slot: str, asset: str, parts: Iterable[AssetPart]) -> None:
        """Send *parts* of the asset with this id to the machine of *slot*, unless it has it.

        The only method that another thread calls. Slots of this machine never need it.
        """
        ...

    def stop(self) -> None:
        """Start no further query on any slot; running ones may end."""
        ...

    def close(self) -> None:
        """End all sessions and their processes, within seconds; calling it twice is fine.

        Events that had arrived can still be received.
        """
        ...


class Executor(Protocol):
    """Connects to the slots of one machine or of several."""

    @property
    def travels(self) -> bool:
        """Return whether slots may be on other machines, which lack the files of this one."""
        ...

    @property
    def warning(self) -> str:
        """Return what a user should know before connecting, "" for nothing."""
        ...

    def connect(self) -> AbstractContextManager[SlotPool]:
        """Return the slots as a context, which closes them; ProcessError where that fails."""
        ...


# A scheme leads to a function of what follows the colon and of the number of workers, which an
# executor uses where its URL does not say more.
EXECUTORS: Registry[Callable[[str, int], Executor]] = Registry(
    "executor",
    {
        "local": "karat.experiments.executors.local:local_executor",
    },
    closed=True,
)


def open_executor(url: str, *, workers: int = 1) -> Executor:
    """Return the executor that *url* names: ``local``, ``local:8``, ``dask://host:8786``, ...

    Extensions add executors by the scheme of their URLs.

    >>> open_executor("local", workers=2), open_executor("local:8", workers=2)
    (LocalExecutor(workers=2), LocalExecutor(workers=8))
    >>> open_executor("slurm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: executor 'slurm': unknown scheme 'slurm'; expected local...
    """
    scheme, _, address = url.partition(":")
    if scheme.lower() not in set(EXECUTORS):
        valid = ", ".join(EXECUTORS)
        raise UnknownName(f"executor {url!r}: unknown scheme {scheme!r}; expected {valid}")
    return EXECUTORS.get(scheme)(address, workers)
