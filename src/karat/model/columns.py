"""Strings as integer codes, and a check that names differ."""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["CodedColumn", "encode", "repeated"]


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


def repeated(names: Iterable[str]) -> list[str]:
    """Return the *names* that occur more than once, in order of first appearance.

    >>> repeated(["b", "a", "c", "a", "b"])
    ['b', 'a']
    """
    return [name for name, count in Counter(names).items() if count > 1]
