"""Tables as Markdown."""

from collections.abc import Iterable

from karat.report.display import headline_and_details, printable
from karat.report.table import Table

__all__ = ["pictures", "plain", "render"]


def render(table: Table) -> str:
    """Return *table* as a pipe table with its title and notes; the best are bold and starred."""
    lines = []
    for warning in table.warnings:
        lines += [f"> **Warning:** {plain(warning)}", ""]
    lines += [f"### {plain(table.title)}", ""] if table.title else []
    lines.append("| " + " | ".join(plain(column.title) for column in table.columns) + " |")
    lines.append(
        "|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|"
    )
    for row in table.rows:
        texts = [rf"**{plain(cell.text)}**\*" if cell.best else plain(cell.text) for cell in row]
        lines.append("| " + " | ".join(texts) + " |")
    if table.notes:
        lines.append("")
    lines += [f"- {plain(note)}" for note in table.notes]
    if table.conclusion:
        headline, details = headline_and_details(table.conclusion)
        lines += ["", f"**{plain(headline)}**"]
        lines += ["", plain(details)] if details else []
    return "\n".join(lines) + "\n"


def pictures(names: Iterable[str]) -> str:
    """Return a section that shows the pictures in the files of these *names*.

    >>> print(pictures(["f1_distribution.png"]))
    ### Charts
    <BLANKLINE>
    ![f1_distribution](f1_distribution.png)
    <BLANKLINE>
    """
    shown = (f"![{name.partition('.')[0]}]({name})\n" for name in names)
    return "\n".join(("### Charts\n", *shown))


def plain(text: str) -> str:
    r"""Return *text* with what Markdown would read as markup escaped.

    >>> plain("a|b <img> `x`")
    'a\\|b \\<img\\> \\`x\\`'
    """
    escaped = printable(text)
    for character in "\\`*_[]<>|":
        escaped = escaped.replace(character, "\\" + character)
    return escaped
