"""Strings as integer codes: each distinct string is stored once, columns have its number."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["CodedColumn", "encode"]


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column of strings: ``names[codes[row]]`` is the string of a row."""

    codes: "array[int]"
    names: tuple[str, ...]

    def __getitem__(self, row: int) -> str:
        """Return the string of *row*."""
        return self.names[self.codes[row]]


def encode(values: Iterable[str]) -> CodedColumn:
    """Return *values* as codes, numbered in order of first appearance.

    >>> encode(["a.py", "b.py", "a.py"])
    CodedColumn(codes=array('i', [0, 1, 0]), names=('a.py', 'b.py'))
    """
    numbers: dict[str, int] = {}
    codes = array("i", [numbers.setdefault(value, len(numbers)) for value in values])
    return CodedColumn(codes, tuple(numbers))
