"""Calls into code that is not Karat's."""

from collections.abc import Callable
from typing import Any

from karat.errors import EngineError, MissingExtra

__all__ = ["close", "guarded"]


def guarded(name: str, function: Callable[..., Any], *args: object) -> Any:
    """Call a foreign *function*; what it raises is an error of the engine, not of Karat.

    >>> guarded("mine", int, "two")
    Traceback (most recent call last):
    ...
    karat.errors.EngineError: mine: ValueError: invalid literal for int() with base 10: 'two'
    """
    try:
        return function(*args)
    except (EngineError, MissingExtra):
        raise
    except Exception as error:
        raise EngineError(f"{name}: {type(error).__name__}: {error}") from error


def close(name: str, target: object) -> None:
    """Close *target* if it can be closed."""
    if callable(closing := getattr(target, "close", None)):
        guarded(name, closing)
