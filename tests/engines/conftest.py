"""The program that several engines search with."""

from collections.abc import Callable
from typing import NoReturn

import pytest

from karat.engines.lexical import grep


@pytest.fixture(scope="session")
def ripgrep(missing: Callable[[str], NoReturn]) -> str:
    """Return ripgrep, which the test requirements bring along."""
    return grep.ripgrep() or missing("ripgrep: install requirements/test.txt")
