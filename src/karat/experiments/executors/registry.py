"""Executors by the scheme of their URL."""

from collections.abc import Callable

from karat.errors import UnknownName
from karat.experiments.executors.base import Executor
from karat.registry import Registry

__all__ = ["EXECUTORS", "open_executor"]

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
