"""Tables as Markdown."""

from karat.report.display import printable
from karat.report.table import Table

__all__ = ["render"]


def render(table: Table) -> str:
    """Return *table* as a pipe table with its title and notes; the best are bold and starred."""
    lines = [f"### {_safe(table.title)}", ""] if table.title else []
    lines.append("| " + " | ".join(_safe(column.title) for column in table.columns) + " |")
    lines.append(
        "|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|"
    )
    for row in table.rows:
        texts = [rf"**{_safe(cell.text)}**\*" if cell.best else _safe(cell.text) for cell in row]
        lines.append("| " + " | ".join(texts) + " |")
    if table.notes:
        lines.append("")
    lines += [f"- {_safe(note)}" for note in table.notes]
    if table.conclusion:
        lines += ["", _safe(table.conclusion)]
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    r"""Return *text* with what Markdown would read as markup escaped.

    >>> _safe("a|b <img> `x`")
    'a\\|b \\<img\\> \\`x\\`'
    """
    escaped = printable(text)
    for character in "\\`*_[]<>|":
        escaped = escaped.replace(character, "\\" + character)
    return escaped
