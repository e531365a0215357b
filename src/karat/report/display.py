"""Text as a terminal shows it: harmless, on one line, and measured in columns."""

import re
from unicodedata import category, east_asian_width

__all__ = [
    "display_width",
    "headline_and_details",
    "printable",
    "shorten",
]

ELLIPSIS = "..."


def printable(text: str) -> str:
    r"""Return *text* on one line without anything that a terminal would obey.

    Control, format (bidi included) and line-breaking characters are written as escapes.

    >>> printable("list[int] [/path]\x1b[31m")
    'list[int] [/path]\\x1b[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        # Spaces other than the plain one are not "printable" in Python, yet harmless.
        if character.isprintable() or category(character) == "Zs"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def display_width(text: str) -> int:
    r"""Return how many columns *text* takes: two for wide characters, none for combining marks.

    >>> display_width("検索"), display_width("e\u0301")
    (4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def shorten(text: str, width: int) -> str:
    """Return *text* cut to *width* columns, with dots where something was cut.

    >>> shorten("where is the login handled?", 12), shorten("検索の品質", 8)
    ('where is ...', '検索...')
    """
    if display_width(text) <= width:
        return text
    left = width - len(ELLIPSIS)
    kept = []
    for character in text:
        left -= _columns(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept) + ELLIPSIS


def without_middle(text: str, width: int) -> str:
    """Return *text* cut to *width* columns, with dots where its middle was.

    >>> without_middle("hybrid reranked top 10", 15), without_middle("bm25", 15)
    ('hybrid...top 10', 'bm25')
    """
    if display_width(text) <= width:
        return text
    last = (width - len(ELLIPSIS)) // 2
    tail = ""
    for character in reversed(text):
        if display_width(character + tail) > last:
            break
        tail = character + tail
    return shorten(text, width - display_width(tail)) + tail


def _columns(character: str) -> int:
    if east_asian_width(character) in "WF":
        return 2
    return 0 if category(character) in ("Mn", "Me") else 1


def headline_and_details(verdict: str) -> tuple[str, str]:
    """Return the first sentence of *verdict*, and the rest; clauses become sentences.

    >>> headline_and_details("a beats b on ndcg@10 by 0.1; the difference on mrr is 0. Fine.")
    ('a beats b on ndcg@10 by 0.1.', 'The difference on mrr is 0. Fine.')
    """
    first, end, rest = _first_sentence(verdict)
    if end != ";":
        return first + end, rest
    own = rest.startswith(("the ", "on ", "no "))
    return f"{first}.", rest[:1].upper() + rest[1:] if own else rest


def _first_sentence(text: str) -> tuple[str, str, str]:
    end = re.search(r"[.;] ", text)
    return (text[: end.start()], text[end.start()], text[end.end() :]) if end else (text, "", "")
