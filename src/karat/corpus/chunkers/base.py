"""A chunk, the protocol of chunkers, and how a chunker's pieces become chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from io import StringIO
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from karat.errors import InputError
from karat.model.spec import Spec

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


# The one fallback that a retry may not need; it is never cached on disk.
TIMED_OUT = "parse-timeout"


class Piece(NamedTuple):
    """A part of a text as its chunker sees it: whole lines, or a window within some.

    Lines count from 1, *end_line* included. *symbols* are the names defined in it, *scope* the
    names (or headings) around its start, outermost first; *kind* is ``code``, ``prose`` or
    ``lines``.
    """

    start_line: int
    end_line: int
    text: str
    symbols: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    kind: str = "lines"


class SplitResult(NamedTuple):
    """The pieces of one text, and the reason of a fallback ("" if there was none)."""

    pieces: Sequence[Piece]
    fallback: str = ""


class Chunker(Protocol):
    """Cuts a text into pieces.

    The contract: the same text and language always give the same pieces, in the order of the text.
    Every line that is not blank is in at least one of them, and in exactly one if the chunker does
    not overlap. A chunker does not get the path, so that equal contents are cut once.
    """

    @property
    def spec(self) -> Spec:
        """Return the name and all parameters; a change in the pieces must change it."""
        ...

    def split(self, text: str, language: str) -> SplitResult:
        """Return the pieces of *text*, written in *language* ("" if unknown)."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that an engine can index and return.

    *id* hashes the text and the chunker, not the path, the line or the symbols: a chunk that
    moves, in its file or to another one, keeps its id, and whatever was computed from its text.
    *context* is a sentence about the chunk that an engine indexes with it; it is in no file.
    """

    id: str
    blob: str
    start_line: int
    end_line: int
    text: str
    symbols: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    kind: str = "lines"
    context: str = ""


def chunk_id(text: str, digest: str) -> str:
    """Return the id of a chunk with this *text*, made by the chunker whose spec has *digest*.

    >>> chunk_id("x = 1", "d" * 64)
    'c2a7d0c15250f74e2ab7779ef7d5f52c'
    """
    # 16 bytes: a collision among 10^9 chunks has a probability of 10^-20.
    return blake2b(text.encode(), digest_size=16, key=digest[:64].encode()).hexdigest()


def chunks_of(split: SplitResult, *, blob: str, digest: str) -> tuple[Chunk, ...]:
    """Return the chunks of a document from the pieces that its text was cut into."""
    return tuple(Chunk(chunk_id(piece.text, digest), blob, *piece) for piece in split.pieces)


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


def spec_of(chunker: "DataclassInstance", name: str) -> Spec:
    """Return the spec of a *chunker* that is a dataclass: all its fields are parameters."""
    return Spec("chunker", name, asdict(chunker))


def require_positive(chunker: str, **values: object) -> None:
    """Reject a value that is not a whole number of 1 or more."""
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"chunker {chunker!r}: {name} is {value!r}; expected 1 or more")


def require_below(chunker: str, *, size: object, **smaller: object) -> None:
    """Reject a *size* below 1, and a *smaller* value that is negative or not below it."""
    require_positive(chunker, size=size)
    for name, value in smaller.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not 0 <= cast("int", value) < cast("int", size):
            raise InputError(
                f"chunker {chunker!r}: {name} is {value!r}; expected 0 or more, below size ({size})"
            )


# Where str.splitlines() divides as well.
_OTHER_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def lines_of(text: str) -> list[str]:
    r"""Return the lines of *text* with their line ends; only LF ends a line, as in Git.

    >>> lines_of("a\n\x0cb\n")
    ['a\n', '\x0cb\n']
    """
    if any(map(text.__contains__, _OTHER_ENDS)):
        return StringIO(text, newline="\n").readlines()
    # Much faster, and the same in nearly every text.
    return text.splitlines(keepends=True)


def weights_of(text: str) -> list[int]:
    r"""Return the number of non-white characters before each line, and before the end.

    >>> weights_of("a b\n\nc\n")
    [0, 2, 2, 3, 3]
    """
    # Deleting from the whole text is several times as fast as from each line, or by translate().
    for white in " \t\r\f\v":
        text = text.replace(white, "")
    return list(accumulate(map(len, text.split("\n")), initial=0))


def cut_by_size(
    weights: Sequence[int], first: int, last: int, limit: int
) -> Iterator[tuple[int, int]]:
    """Yield ranges that cover the lines *first* to *last*, each as long as *limit* allows.

    A single line above the limit is a range of its own.

    >>> list(cut_by_size([0, 4, 8, 20, 21], 0, 3, limit=10))
    [(0, 1), (2, 2), (3, 3)]
    """
    start = first
    for line in range(first, last + 1):
        if line > start and weights[line + 1] - weights[start] > limit:
            yield start, line - 1
            start = line
    if start <= last:
        yield start, last
