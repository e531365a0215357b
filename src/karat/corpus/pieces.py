"""A piece of a text out of whole lines."""

from collections.abc import Sequence

from karat.corpus.chunk import Piece

__all__ = ["piece_of"]


def piece_of(  # noqa: PLR0917 - the fields of a piece, in their order
    lines: Sequence[str],
    first: int,
    last: int,
    symbols: tuple[str, ...] = (),
    scope: tuple[str, ...] = (),
    kind: str = "lines",
) -> Piece | None:
    """Return the lines *first* to *last* (from 0, included) without blank ones around them.

    None where all of them are blank.
    """
    while first <= last and not lines[first].strip():
        first += 1
    while last > first and not lines[last].strip():
        last -= 1
    if first > last:
        return None
    return Piece(first + 1, last + 1, "".join(lines[first : last + 1]), symbols, scope, kind)
