"""Every chunker by its name; adding one is a class in its own file and a line here."""

from collections.abc import Callable

from karat.corpus.chunk import Chunker
from karat.errors import InputError
from karat.registry import Registry

__all__ = ["CHUNKERS", "create_chunker"]

CHUNKERS: "Registry[Callable[..., Chunker]]" = Registry(
    "chunker",
    {
        "auto": "karat.corpus.auto:Auto",
        "syntax": "karat.corpus.syntax:Syntax",
        "definitions": "karat.corpus.syntax:definitions",
        "markdown": "karat.corpus.sections:Sections",
        "lines": "karat.corpus.lines:Lines",
        "window": "karat.corpus.window:Window",
    },
    aliases={"sections": "markdown", "cast": "syntax"},
)


def create_chunker(name: str = "auto", **parameters: object) -> Chunker:
    """Return the chunker called *name* with *parameters*; the rest have their defaults.

    >>> create_chunker("lines", size=20).spec.params
    {'size': 20, 'overlap': 0}
    >>> create_chunker("lines", sise=20)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: chunker 'lines': got an unexpected keyword argument 'sise'
    """
    make = CHUNKERS.get(name)
    try:
        return make(**parameters)
    except TypeError as error:
        problem = str(error).rpartition("__init__() ")[2]
        raise InputError(f"chunker {name!r}: {problem}") from error
