"""Slots and pools of slots: where the units of a driver run."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from karat.extensions.cluster.assets import AssetPart
from karat.extensions.cluster.fingerprint import Fingerprint
from karat.extensions.cluster.unit import SlotEvent, Unit


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
    ``karat.extensions.cluster.schedule``.
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
