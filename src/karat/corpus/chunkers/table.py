"""Every chunker by its name; adding one is a class in its own file and a line here."""

from collections.abc import Callable

from karat.corpus.chunkers.base import Chunker
from karat.errors import InputError
from karat.model.spec import parse_call
from karat.registry import Registry

__all__ = ["CHUNKERS", "create_chunker"]

CHUNKERS: "Registry[Callable[..., Chunker]]" = Registry(
    "chunker",
    {
        "auto": "karat.corpus.chunkers.auto:Auto",
        "syntax": "karat.corpus.chunkers.syntax:Syntax",
        "definitions": "karat.corpus.chunkers.syntax:definitions",
        "markdown": "karat.corpus.chunkers.sections:Sections",
        "lines": "karat.corpus.chunkers.window:Lines",
        "window": "karat.corpus.chunkers.window:Window",
    },
    aliases={"sections": "markdown", "cast": "syntax"},
)


def create_chunker(name: str = "auto", **parameters: object) -> Chunker:
    """Return the chunker called *name* with *parameters*; the rest have their defaults.

    A number after a colon is the size of its chunks, and parameters may follow in brackets.

    >>> create_chunker("lines", size=20).spec.params
    {'size': 20, 'overlap': 0}
    >>> create_chunker("lines:20").spec == create_chunker("lines", size=20).spec
    True
    >>> create_chunker("lines(size=20, overlap=5)").spec.params
    {'size': 20, 'overlap': 5}
    >>> create_chunker("lines", sise=20)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: chunker 'lines': got an unexpected keyword argument 'sise'
    """
    called, options = parse_call(name)
    make, size = CHUNKERS.split(called)
    parameters = {option: _value(text) for option, text in options.items()} | parameters
    if size:
        if not (size.isascii() and size.isdigit()):
            raise InputError(f"chunker {name!r}: size {size!r} is not a whole number")
        parameters["size"] = int(size)
    try:
        return make(**parameters)
    except TypeError as error:
        problem = str(error).rpartition("__init__() ")[2]
        raise InputError(f"chunker {name!r}: {problem}") from error


def _value(text: str) -> object:
    """Return the number or the truth value that *text* stands for, else *text*."""
    if text.isascii() and text.isdigit():
        return int(text)
    return {"true": True, "false": False}.get(text.lower(), text)
