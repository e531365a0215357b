"""Which engines take a parameter, and how they get its value."""

from typing import Any

import pytest

from karat.engines.own_parameters import (
    check_parameters,
    parameter_value,
    takes_parameter,
    with_parameter,
)
from karat.errors import InputError
from karat.model.spec import Spec


class Sized:
    """Finds nothing."""

    def __init__(self, size: int = 256) -> None:
        raise AssertionError(size)


class Open:
    """Takes any keyword."""

    def __init__(self, **options: Any) -> None:
        self.options = options


SIZED, OPEN = "tests.engines.test_own_parameters:Sized", "tests.engines.test_own_parameters:Open"
HTTP = {"url": "http://localhost/?q={query}&size={size}"}
TAKERS = [
    Spec("engine", "http", HTTP),
    Spec("engine", "mcp", {"command": ["x"], "tool": "t", "arguments": {"n": "{size}"}}),
    Spec("engine", "process", {"command": ["x", "{size}"]}),
    Spec("engine", "python", {"class": SIZED}),
    Spec("engine", "python", {"class": OPEN, "options": {"size": "1"}}),
    Spec("engine", SIZED),
    Spec("engine", "rerank", {"over": {"engine": "http", **HTTP}}),
]


@pytest.mark.parametrize("spec", TAKERS)
def test_engines_that_take_it(spec: Spec) -> None:
    assert takes_parameter(spec, "size")
    assert not takes_parameter(spec, "depth")
    assert parameter_value(with_parameter(spec, "size", "512"), "size") == "512"
    assert with_parameter(spec, "size", "512") != with_parameter(spec, "size", "256")


@pytest.mark.parametrize(
    "spec",
    [
        Spec("engine", "bm25", {"k1": "1.2"}),
        Spec("engine", "http", {"url": "http://localhost/?q={query}"}),
        # Nobody knows what a class does with any keyword.
        Spec("engine", "python", {"class": OPEN}),
    ],
)
def test_engines_that_do_not(spec: Spec) -> None:
    assert not takes_parameter(spec, "size")
    assert not takes_parameter(spec, "k1")


def test_values_are_checked_without_calling_the_class() -> None:
    for spec in (Spec("engine", "python", {"class": SIZED}), Spec("engine", SIZED)):
        check_parameters(with_parameter(spec, "size", "512"))
        with pytest.raises(InputError, match="size: Input should be a valid integer"):
            check_parameters(with_parameter(spec, "size", "large"))
    over = Spec("engine", "rerank", {"over": {"engine": "http", **HTTP}})
    check_parameters(with_parameter(over, "size", "512"))
    with pytest.raises(InputError, match=r"\{size\} is unknown"):
        check_parameters(over)
