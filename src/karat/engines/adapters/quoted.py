"""What an error shows of a long text."""

__all__ = ["excerpt", "last_words"]

SHOWN = 160


def excerpt(text: str) -> str:
    """Return the beginning of *text* in quotes, as far as an error should show it."""
    return repr(text[:SHOWN] + ("..." if len(text) > SHOWN else ""))


def last_words(text: str) -> str:
    """Return the end of *text* in quotes: a program says last why it gave up.

    >>> last_words("starting ...  no key ")
    "'starting ...  no key'"
    """
    text = text.strip()
    return repr(("..." if len(text) > SHOWN else "") + text[-SHOWN:])
