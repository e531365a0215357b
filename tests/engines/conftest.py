"""Parts that several engines are tested with."""

from collections.abc import Callable
from typing import NoReturn

import pytest

from karat.engines import keyword


@pytest.fixture(scope="session")
def ripgrep(missing: Callable[[str], NoReturn]) -> str:
    """Return ripgrep, which the test requirements bring along."""
    return keyword.ripgrep() or missing("ripgrep: install requirements/test.txt")
