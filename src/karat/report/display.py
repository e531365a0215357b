"""Text for a terminal: without control characters, on one line, measured in columns."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


ELLIPSIS = "..."


def printable(text: str) -> str:
    r"""Return *text* on one line without control characters.

    Control, format (bidi included) and line-breaking characters are written as escapes.

    >>> printable("list[int] [/path]\x1b[31m")
    'list[int] [/path]\\x1b[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    from unicodedata import category

    return "".join(
        character
        # Spaces other than the plain one are not "printable" in Python, yet harmless.
        if character.isprintable() or category(character) == "Zs"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


# No line ends at this blank; a terminal gets a plain one.
FIRM_BLANK = "\u00a0"


def unbroken(command: str) -> str:
    """Return *command* so that it stays on one line, however narrow the terminal is."""
    return command.replace(" ", FIRM_BLANK)


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
    start = []
    for character in text:
        left -= _columns(character)
        if left < 0:
            break
        start.append(character)
    return "".join(start) + ELLIPSIS


def shorten_middle(text: str, width: int) -> str:
    """Return *text* in *width* columns, with dots where its middle was cut.

    >>> shorten_middle("hybrid dense_weight=0.3 k1=1.6 @10", 24)
    'hybrid den... k1=1.6 @10'
    """
    if display_width(text) <= width:
        return text
    start = shorten(text, (width + len(ELLIPSIS)) // 2)
    end = text
    while display_width(start) + display_width(end) > width:
        end = end[1:]
    return start + end


def _columns(character: str) -> int:
    from unicodedata import category, east_asian_width

    if east_asian_width(character) in "WF":
        return 2
    return 0 if category(character) in ("Mn", "Me") else 1


def headline_and_details(verdict: str, sentences: int = 1) -> tuple[str, str]:
    """Return the first *sentences* of *verdict*, and the others.

    >>> headline_and_details("a is better than b: mrr +0.1. It is also better on hit@5. Fine.")
    ('a is better than b: mrr +0.1.', 'It is also better on hit@5. Fine.')
    >>> headline_and_details("One. Two. Three.", 2), headline_and_details("One.", 2)
    (('One. Two.', 'Three.'), ('One.', ''))
    """
    parts = verdict.split(". ", sentences)
    if len(parts) <= sentences:
        return verdict, ""
    return f"{'. '.join(parts[:-1])}.", parts[-1]


def age(moment: "datetime", *, now: "datetime") -> str:
    """Return how long ago *moment* was, or after four weeks its date.

    >>> from datetime import datetime, timedelta
    >>> now = datetime(2026, 3, 20, 12)
    >>> [age(now - timedelta(minutes=minutes), now=now) for minutes in (0, 5, 150, 4000, 90000)]
    ['just now', '5 min ago', '2 h ago', '2 days ago', '2026-01-17']
    """
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 48 * 60:
        return f"{minutes // 60} h ago"
    days = minutes // (24 * 60)
    return f"{days} days ago" if days <= 28 else f"{moment:%Y-%m-%d}"
