"""Parts that several engines are tested with."""

from collections.abc import Callable
from typing import NoReturn

import pytest

from karat.engines import keyword


@pytest.fixture(scope="session")
def ripgrep(missing: Callable[[str], NoReturn]) -> str:
    """Return ripgrep, which the test requirements bring along."""
    return keyword.ripgrep() or missing("ripgrep: install requirements/test.txt")


@pytest.fixture(scope="session")
def libraries() -> None:
    """Import what the extra ``transformers`` brings, whose first import warns of much."""
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
