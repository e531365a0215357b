"""The part of a specification after the colon, where it is a number of tokens."""

from karat.errors import InputError

__all__ = ["token_limit"]

FEWEST = 8


def token_limit(argument: str, *, default: int, most: int, name: str) -> int:
    """Return the number of tokens that *argument* asks for, *default* where it is empty.

    >>> token_limit("512", default=256, most=512, name="granite")
    512
    >>> token_limit("4096", default=256, most=512, name="granite")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: granite:4096: expected a number of tokens from 8 to 512
    """
    if not argument:
        return default
    limit = int(argument) if argument.isascii() and argument.isdecimal() else 0
    if not FEWEST <= limit <= most:
        raise InputError(f"{name}:{argument}: expected a number of tokens from {FEWEST} to {most}")
    return limit
