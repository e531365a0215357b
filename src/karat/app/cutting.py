"""How strangers may have documents cut: by a chunker with a name, and not into countless pieces."""

from karat.corpus import CHUNKERS, create_chunker
from karat.errors import InputError, UnknownName
from karat.model.call import parse_call

__all__ = ["check_cutting"]

# In so many chunks may one line or word be: each of them is kept, and embedded.
MOST_COPIES = 10


def check_cutting(chunker: str) -> None:
    """Refuse a *chunker* that nothing is called, or that repeats too much, in words of a command.

    >>> check_cutting("window(unit=characters, size=100, overlap=95)")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: chunker 'window': overlap is 95; expected at most 90 of 100 here
    """
    name, _ = parse_call(chunker)
    try:
        # Before it is made: what is no name would be taken for a module, and loaded.
        CHUNKERS.canonical(name.partition(":")[0])
        spec = create_chunker(chunker).spec
    except UnknownName as error:
        raise InputError(str(error)) from None
    size, overlap = spec.params.get("size"), spec.params.get("overlap")
    if isinstance(size, int) and isinstance(overlap, int):
        most = size * (MOST_COPIES - 1) // MOST_COPIES
        if overlap > most:
            raise InputError(
                f"chunker {spec.name!r}: overlap is {overlap}; expected at most {most} of {size} "
                "here"
            )
