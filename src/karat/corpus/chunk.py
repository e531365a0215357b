"""A chunk, the protocol of what makes chunks, and how a chunker's pieces become chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, Protocol

from karat.model.spec import Spec

__all__ = ["TIMED_OUT", "Chunk", "Chunker", "Piece", "Split", "chunk_id", "chunks_of"]


# The one fallback that another try may not need; it is never kept on disk.
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


class Split(NamedTuple):
    """The pieces of one text, and why they are not what was asked for ("" if they are)."""

    pieces: Sequence[Piece]
    fallback: str = ""


class Chunker(Protocol):
    """Cuts a text into pieces.

    The law: the same text and language always give the same pieces; they are in the order of the
    text, and every line that is not blank is in at least one of them (in exactly one, where the
    chunker does not overlap). The path is not known, so that equal contents are cut once.
    """

    @property
    def spec(self) -> Spec:
        """Return the name and all parameters; a change in the pieces must change it."""
        ...

    def split(self, text: str, language: str) -> Split:
        """Return the pieces of *text*, written in *language* ("" if unknown)."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that an engine can index and return.

    *id* hashes the text and the chunker, not the path, the line or the symbols: a chunk that
    moves, in its file or to another one, keeps its id, and whatever was computed from its text.
    """

    id: str
    blob: str
    start_line: int
    end_line: int
    text: str
    symbols: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    kind: str = "lines"


def chunk_id(text: str, digest: str) -> str:
    """Return the id of a chunk with this *text*, made by the chunker whose spec has *digest*.

    >>> chunk_id("x = 1", "d" * 64)
    'c2a7d0c15250f74e2ab7779ef7d5f52c'
    """
    # 16 bytes: two of a thousand million chunks agree by chance once in 10^20 corpora.
    return blake2b(text.encode(), digest_size=16, key=digest[:64].encode()).hexdigest()


def chunks_of(split: Split, *, blob: str, digest: str) -> tuple[Chunk, ...]:
    """Return the chunks of a document from the pieces that its text was cut into."""
    return tuple(Chunk(chunk_id(piece.text, digest), blob, *piece) for piece in split.pieces)
