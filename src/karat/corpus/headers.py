"""The context of a chunk in words: where it stands and what it defines."""

from karat.corpus.chunk import Chunk

__all__ = ["header"]


def header(chunk: Chunk, path: str) -> str:
    """Return up to three lines: the path, the names or headings around the chunk, its symbols.

    It is put before a chunk's text when that is indexed. It is no part of the chunk's id, so that
    a renamed file needs no new vectors for engines that do without it.

    >>> chunk = Chunk("", "", 3, 9, "...", symbols=("login", "logout"), scope=("Session",))
    >>> print(header(chunk, "src/auth.py"))
    src/auth.py
    Session
    login logout
    """
    return "\n".join(
        part for part in (path, " > ".join(chunk.scope), " ".join(chunk.symbols)) if part
    )
