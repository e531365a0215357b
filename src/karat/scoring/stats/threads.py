"""Limit numpy's matrix products to one thread, to save processor time.

OpenBLAS splits a product among all cores, and its idle threads spin until the next one. The
products here are small and many, so the threads would burn several times the processor time of the
work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


@cache
def _blas() -> "ThreadpoolController":
    """Return the controller of the libraries behind numpy's matrix products."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


# Held by the call that set the limit.
_LIMIT = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit matrix products to one thread, and restore the previous number.

    Use it as a context manager or as a decorator. The limit applies to the process, and only the
    thread that set it can restore it: of overlapping calls in several threads the first does both,
    and the others do nothing. A BLAS without such a setting is not changed.
    """
    if not _LIMIT.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _LIMIT.release()
