"""A place in parts that a model reads whole: what lies past its last token would be lost."""

from math import ceil

from karat.engines.places import Place
from karat.errors import InputError

__all__ = ["WINDOWED", "check_windows", "texts_of"]

# Well below the 256 tokens at which the packaged encoders stop; 800 was a little worse on prose.
CHARACTERS = 500
# Which places are embedded in parts. Prose gains most; code costs twice the time for less.
WINDOWED = ("none", "prose", "all")


def check_windows(windows: str) -> str:
    """Return *windows* if it is one of :data:`WINDOWED`."""
    if windows not in WINDOWED:
        raise InputError(f"windows {windows!r} is none of: {', '.join(WINDOWED)}")
    return windows


def texts_of(place: Place, windows: str) -> list[str]:
    """Return the texts to embed for *place*, each below the header of the whole."""
    if windows == "none" or (windows == "prose" and place.chunk.kind != "prose"):
        return [place.text]
    return [f"{place.header}\n{part}" for part in parts(place.chunk.text)]


def parts(text: str, size: int = CHARACTERS) -> list[str]:
    r"""Return *text* in as few parts of whole lines as hold about *size* characters, all alike.

    >>> parts("one\ntwo\nthree\nfour\n", 10)
    ['one\ntwo\n', 'three\nfour\n']
    >>> parts("short", 10)
    ['short']
    """
    aim = len(text) / max(1, ceil(len(text) / size))
    found = [""]
    length = 0
    for line in text.splitlines(keepends=True):
        # A line goes where its middle falls.
        if found[-1] and length + len(line) / 2 > aim * len(found):
            found.append("")
        found[-1] += line
        length += len(line)
    return found
