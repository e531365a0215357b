"""Elements of HTML and SVG as text; whatever is not markup already is escaped."""

from html import escape

from karat.report.display import printable

__all__ = ["Markup", "joined", "lines_of", "number", "tag"]

EMPTY = frozenset({"meta", "input", "br", "link"})


class Markup(str):
    """Text that is markup and stands as it is."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | float | bool | None) -> Markup:
    """Return an element; text among *children* is escaped, and made harmless to read.

    An attribute that is None or False is left out, True stands without a value. In names of
    attributes an underscore becomes a hyphen, and one at the end is dropped.

    >>> tag("p", "a < b", class_="note", hidden=False)
    '<p class="note">a &lt; b</p>'
    """
    opened = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        written = key.rstrip("_").replace("_", "-")
        if value is not True:
            shown = value if isinstance(value, str) else number(value)
            written += f'="{escape(printable(shown))}"'
        opened.append(written)
    if name in EMPTY:
        return Markup(f"<{' '.join(opened)}>")
    return Markup(f"<{' '.join(opened)}>{joined(*children)}</{name}>")


def joined(*parts: str) -> Markup:
    """Return *parts* one after the other, each escaped unless it is markup."""
    return Markup("".join(part if isinstance(part, Markup) else _safe(part) for part in parts))


def number(value: float) -> str:
    """Return a coordinate with at most one decimal: a tenth of a pixel is enough.

    >>> number(12), number(0.25), number(-0.04), number(3.5)
    ('12', '0.2', '0', '3.5')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def lines_of(text: str) -> str:
    r"""Return *text* with its line breaks kept and everything else that could disturb escaped.

    >>> lines_of("a\r\nb\x00")
    'a\nb\\x00'
    """
    return "\n".join(map(printable, text.splitlines()))


def _safe(text: str) -> str:
    return escape(printable(text), quote=False)
