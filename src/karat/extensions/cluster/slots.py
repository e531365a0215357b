"""Show the slots of an executor, and why some of them would not be used."""

import platform
from collections.abc import Sequence
from typing import NamedTuple

from karat.experiments.executors import Executor, LocalExecutor, open_executor
from karat.extensions.cluster.driver import check_slot
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.fingerprint import Fingerprint, differences, fingerprint
from karat.extensions.cluster.pool import Slot

__all__ = ["SlotListing", "list_slots", "local_fingerprint", "open_executor"]


class SlotListing(NamedTuple):
    """A slot; *rejected* says why it would not be used, *differs* what may change last digits."""

    slot: Slot
    rejected: str
    differs: str


def list_slots(executor: Executor) -> list[SlotListing]:
    """Return all slots of *executor* as they are now; no unit is run."""
    return [
        SlotListing(
            slot,
            check_slot(slot),
            differences(fingerprint(), slot.fingerprint) if slot.fingerprint else "",
        )
        for slot in _slots(executor)
    ]


def _slots(executor: Executor) -> Sequence[Slot]:
    if isinstance(executor, SlotExecutor):
        with executor.connect() as pool:
            return pool.slots()
    workers = executor.workers if isinstance(executor, LocalExecutor) else 0
    return [Slot(f"{number}", platform.node()) for number in range(1, workers + 1)]


def local_fingerprint() -> Fingerprint:
    """Return what slots are compared with."""
    return fingerprint()
