"""Matrix products use one thread while statistics are computed, and as many as before after it."""

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from subprocess import run
from types import ModuleType

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from karat.scoring.stats import bootstrap_intervals, compare, sign_flip
from karat.scoring.stats.arrays import _blas, one_blas_thread


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Give BLAS two threads whatever the machine and the environment."""
    # Libraries are found once in a process, and another test may have loaded one since.
    _blas.cache_clear()
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS has no setting for its threads")
        yield


def test_the_number_before_is_restored() -> None:
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_an_error_restores_it_too() -> None:
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_calls_may_be_nested() -> None:
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == {2}


# In a process of its own, so that no limit of a test hides what is left behind.
OVERLAPPING = """
from threading import Barrier, Thread

import numpy
from threadpoolctl import threadpool_info

from karat.scoring.stats.arrays import _blas, one_blas_thread


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def second():
    with one_blas_thread():
        both.wait(timeout=60)  # both are inside
        both.wait(timeout=60)  # the first has left


before, both = threads(), Barrier(2)
other = Thread(target=second)
with one_blas_thread():
    other.start()
    both.wait(timeout=60)
    inside = threads()
both.wait(timeout=60)
other.join(timeout=60)
print(before, inside, threads())
"""


def test_calls_that_overlap_leave_no_limit_behind() -> None:
    """The first to enter is the first to leave; the second leaves later."""
    command = [sys.executable, "-c", OVERLAPPING]
    two = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = run(command, capture_output=True, text=True, check=True, env=two)
    before, inside, after = done.stdout.split()
    assert (inside, after) == ("{1}", before)


VALUES = np.random.default_rng(0).normal(size=(40, 3))
CALLS: dict[str, tuple[str, Callable[[], object]]] = {
    # The statistic, and a name inside it that is looked up where its products are made.
    "intervals": ("bootstrap.resample_counts", lambda: bootstrap_intervals(VALUES, draws=99)),
    "flips": ("signflip.random_flips", lambda: sign_flip(VALUES, draws=99)),
    "patterns": ("signflip.every_flip", lambda: sign_flip(VALUES[:7], draws=99)),
    "comparison": (
        "signflip.resample_counts",
        lambda: compare(VALUES.T[:, :, None], systems="abc", metrics="m", draws=199),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_statistic_with_matrix_products(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statistic, call = CALLS[name]
    module, _, function = statistic.partition(".")
    check_threads(import_module(f"karat.scoring.stats.{module}"), function, call, monkeypatch)


def check_threads(
    inside: ModuleType, function: str, call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fail if *function*, which *call* reaches *inside* a module, may use several threads."""
    original = getattr(inside, function)
    seen: list[set[int]] = []

    def recorded(*arguments: object, **options: object) -> object:
        seen.append(blas_threads())
        return original(*arguments, **options)

    monkeypatch.setattr(inside, function, recorded)
    call()
    assert seen
    assert set(map(frozenset, seen)) == {frozenset({1})}
    assert blas_threads() == {2}
