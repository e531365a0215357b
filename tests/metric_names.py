"""Run the tests that every metric must pass once per metric."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

from karat.scoring.metrics import METRICS, Metric

Test = TypeVar("Test", bound=Callable[..., Any])


def each_metric(names: Iterable[str]) -> Callable[[pytest.Metafunc], None]:
    """Return the hook that gives the tests of a module, in *name*, each of the metrics *names*.

    An extension with metrics imports the tests of the core, and this hook with its own names.
    """

    def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
        if "name" in metafunc.fixturenames:
            fits = getattr(metafunc.function, "fits", lambda _: True)
            metafunc.parametrize("name", [name for name in names if fits(METRICS.get(name))])

    return pytest_generate_tests


def only(fits: Callable[[Metric], bool]) -> Callable[[Test], Test]:
    """Let a test run for those metrics only that *fits* accepts."""

    def mark(test: Test) -> Test:
        test.fits = fits  # type: ignore[attr-defined]
        return test

    return mark
