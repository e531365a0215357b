"""Tables for LaTeX, in the style of the package booktabs."""

from karat.report.display import printable
from karat.report.table import Cell, Table

__all__ = ["render"]

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_"},
}


def render(table: Table) -> str:
    """Return *table* as a floating table with its title as caption; the best are bold.

    It needs the package booktabs, and amssymb where slices mark what is better or worse.
    """
    shape = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \begin{{tabular}}{{{shape}}}",
        r"    \toprule",
        f"    {_row([_safe(column.title) for column in table.columns])}",
        r"    \midrule",
        *(f"    {_row([_cell(cell) for cell in row])}" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{' '.join(map(_safe, _sentences(table)))}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    return rf"\textbf{{{_safe(cell.text)}}}" if cell.best else _safe(cell.text)


def _sentences(table: Table) -> list[str]:
    return [
        f"{part.rstrip('.')}." for part in (table.title, *table.notes, table.conclusion) if part
    ]


def _safe(text: str) -> str:
    r"""Return *text* with what TeX would obey escaped.

    >>> _safe("50% of a_b & <c>")
    '50\\% of a\\_b \\& \\textless{}c\\textgreater{}'
    """
    return "".join(SPECIAL.get(character, character) for character in printable(text))
