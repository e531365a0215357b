"""Show the slots of an executor, and why some of them would not be used."""

from typing import NamedTuple

from karat.experiments.executors import Executor, Slot, open_executor
from karat.experiments.executors.driver import check_slot
from karat.experiments.executors.fingerprint import Fingerprint, differences, fingerprint

__all__ = ["SlotListing", "list_slots", "local_fingerprint", "open_executor"]


class SlotListing(NamedTuple):
    """A slot; *rejected* says why it would not be used, *differs* what may change last digits."""

    slot: Slot
    rejected: str
    differs: str


def list_slots(executor: Executor) -> list[SlotListing]:
    """Return all slots of *executor* as they are now; no unit is run."""
    with executor.connect() as pool:
        return [
            SlotListing(
                slot,
                check_slot(slot),
                differences(fingerprint(), slot.fingerprint) if slot.fingerprint else "",
            )
            for slot in pool.slots()
        ]


def local_fingerprint() -> Fingerprint:
    """Return what slots are compared with."""
    return fingerprint()
