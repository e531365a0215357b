"""Text for a terminal: without control characters, on one line, measured in columns."""

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


def shorten_left(text: str, width: int) -> str:
    """Return the end of *text* in *width* columns, with dots where something was cut.

    >>> shorten_left("src/karat/scoring/stats/paired.py", 20)
    '.../stats/paired.py'
    >>> shorten_left("stats/a_very_long_name_of_a_file.py", 20), shorten_left("a.py", 20)
    ('...name_of_a_file.py', 'a.py')
    """
    if display_width(text) <= width:
        return text
    end = text
    while end and display_width(end) > width - len(ELLIPSIS):
        end = end[1:]
    # Whole folders are easier to read than a part of one.
    folder = end.find("/")
    return ELLIPSIS + (end[folder:] if folder >= 0 else end)


def _columns(character: str) -> int:
    from unicodedata import category, east_asian_width

    if east_asian_width(character) in "WF":
        return 2
    return 0 if category(character) in ("Mn", "Me") else 1


def headline_and_details(verdict: str) -> tuple[str, str]:
    """Return the first sentence of *verdict*, and the others.

    >>> headline_and_details("a is better than b: mrr +0.1. It is also better on hit@5. Fine.")
    ('a is better than b: mrr +0.1.', 'It is also better on hit@5. Fine.')
    """
    first, end, rest = verdict.partition(". ")
    return (f"{first}.", rest) if end else (verdict, "")
