"""What all charts share: the paper, its axes and its text."""

from collections.abc import Sequence

from karat.report.display import display_width, printable, without_middle
from karat.report.html.markup import Markup, joined, tag
from karat.report.html.scale import Scale

__all__ = [
    "WIDTH",
    "chart",
    "figure",
    "label",
    "legend",
    "marker",
    "text",
    "tick_text",
    "x_axis",
    "y_axis",
]

# Charts are drawn this wide and scaled by the page, so that text keeps a readable size.
WIDTH = 420
CHARACTER = 6.6


def chart(
    height: float, *parts: str, title: str, width: float = WIDTH, **attributes: str
) -> Markup:
    """Return an SVG image that says to those who cannot see it what it is."""
    return tag(
        "svg",
        *parts,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label=title,
        **attributes,
    )


def figure(title: str, drawn: str, note: str = "", *, class_: str = "") -> Markup:
    """Return a chart below its title, with what a reader must know beneath."""
    parts = [tag("h3", title), drawn]
    if note:
        parts.append(tag("figcaption", note))
    return tag("figure", *parts, class_=f"card {class_}".strip())


def text(x: float, y: float, content: str, *, anchor: str = "start", class_: str = "") -> Markup:
    """Return text whose base line begins, ends or is centred at a point."""
    return tag(
        "text",
        content,
        x=x,
        y=y,
        text_anchor=None if anchor == "start" else anchor,
        class_=class_ or None,
    )


def label(x: float, y: float, content: str, *, room: float) -> Markup:
    """Return text that ends at *x*, cut to *room*; the whole of it appears under the pointer.

    It is cut in the middle: the names of a sweep differ at their ends.
    """
    shown = printable(content)
    cut = without_middle(shown, max(int(room / CHARACTER), 4))
    whole = tag("title", shown) if display_width(cut) < display_width(shown) else Markup("")
    return tag("text", cut, whole, x=x, y=y, text_anchor="end")


def x_axis(scale: Scale, ticks: Sequence[float], *, top: float, bottom: float) -> Markup:
    """Return upright lines at *ticks* and their numbers below."""
    return joined(
        *(
            joined(
                tag("line", x1=scale(tick), x2=scale(tick), y1=top, y2=bottom, class_="grid"),
                _tick(scale(tick), bottom + 15, tick_text(tick)),
            )
            for tick in ticks
        )
    )


def _tick(x: float, y: float, content: str) -> Markup:
    """Return the number of a tick below it, or as near as the edge of the paper allows."""
    half = len(content) * CHARACTER / 2
    return text(min(x, WIDTH - half), y, content, anchor="middle", class_="tick")


def y_axis(scale: Scale, ticks: Sequence[float], *, left: float, right: float) -> Markup:
    """Return level lines at *ticks* and their numbers to the left."""
    return joined(
        *(
            joined(
                tag("line", x1=left, x2=right, y1=scale(tick), y2=scale(tick), class_="grid"),
                text(left - 6, scale(tick) + 4, tick_text(tick), anchor="end", class_="tick"),
            )
            for tick in ticks
        )
    )


def tick_text(value: float) -> str:
    """Return the number at a tick.

    >>> tick_text(0.25), tick_text(10.0), tick_text(1000.0)
    ('0.25', '10', '1,000')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"


def marker(x: float, y: float, colour: str, *, tip: str | None = None) -> Markup:
    """Return the mark of a colour: a shape of its own, for those who cannot tell colours."""
    shapes = (
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        "M-3.6 -3.6h7.2v7.2h-7.2z",
        "M0 -4.8L4.4 3.4H-4.4z",
        "M0 -5L5 0L0 5L-5 0z",
        "M0 4.8L4.4 -3.4H-4.4z",
        "M-4.2 -1.4h2.8v-2.8h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8z",
        "M-2 -4.4h4l2.4 4.4l-2.4 4.4h-4l-2.4 -4.4z",
        "M-1.6 -4.6h3.2v9.2h-3.2z",
    )
    number = int(colour[1:]) if colour[1:].isdigit() else 0
    place = f"translate({x:.1f} {y:.1f})"
    return tag("path", d=shapes[number], transform=place, class_=f"mark {colour}", data_tip=tip)


def legend(entries: Sequence[tuple[str, str]]) -> Markup:
    """Return class and name of each run beside its line and mark; the greys are one entry."""
    named = [(colour, name) for colour, name in entries if colour != "cx"]
    others = len(entries) - len(named)
    if others:
        named.append(("cx", f"{others} other runs"))
    items = []
    for colour, name in named:
        line = tag("path", d="M0 7H26", class_=f"line {colour}")
        sample = tag("svg", line, marker(13, 7, colour), viewBox="0 0 26 14", aria_hidden="true")
        items.append(tag("li", sample, tag("bdi", name)))
    return tag("ul", *items, class_="legend")
