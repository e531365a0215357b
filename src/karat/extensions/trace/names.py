"""Names of programs and tools by what they do; the lists are in ``word_lists/names.txt``."""

from functools import cache

from karat.system.package_data import read_sections


def named(title: str) -> frozenset[str]:
    """Return the names below *title*.

    >>> sorted(named("git commands that fetch"))
    ['clone', 'fetch', 'pull']
    """
    return frozenset(word for line in _sections()[title] for word in line.split())


@cache
def _sections() -> dict[str, tuple[str, ...]]:
    return read_sections("karat.extensions.trace", "word_lists/names.txt")
