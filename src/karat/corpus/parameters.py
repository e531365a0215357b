"""Checks on the parameters of chunkers, and the spec made of them."""

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from karat.errors import InputError
from karat.model.spec import Spec

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["require_below", "require_positive", "spec_of"]


def spec_of(chunker: "DataclassInstance", name: str) -> Spec:
    """Return the spec of a *chunker* that is a dataclass: all its fields are parameters."""
    return Spec("chunker", name, asdict(chunker))


def require_positive(chunker: str, **values: object) -> None:
    """Refuse a value that is no whole number of 1 or more."""
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"chunker {chunker!r}: {name} is {value!r}; expected 1 or more")


def require_below(chunker: str, *, size: object, **smaller: object) -> None:
    """Refuse a *size* below 1, and a *smaller* value that is negative or not below it."""
    require_positive(chunker, size=size)
    for name, value in smaller.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not 0 <= cast("int", value) < cast("int", size):
            raise InputError(
                f"chunker {chunker!r}: {name} is {value!r}; expected 0 or more, below size ({size})"
            )
