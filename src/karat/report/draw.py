"""A report in the format that a file's name asks for."""

import json
from collections.abc import Callable
from pathlib import PurePath

from karat.errors import InputError
from karat.report.display import printable
from karat.report.findings import Findings
from karat.report.table import Cell, Table

__all__ = ["FORMATS", "draw", "drawer", "render"]

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


PICTURES = frozenset({".png", ".svg"})


def draw(findings: Findings, name: str) -> str:
    """Return the report as the content of a file called *name*; its suffix names the format."""
    return drawer(name)(findings)


def drawer(name: str) -> Callable[[Findings], str]:
    """Return what draws for a file called *name*; an unknown suffix is refused."""
    suffix = PurePath(name).suffix.lower()
    if suffix in PICTURES:
        raise InputError(f"{name}: a report cannot be an image; --charts FOLDER writes charts")
    if suffix not in FORMATS:
        raise InputError(f"{name}: unknown report format; expected {', '.join(FORMATS)}")
    return FORMATS[suffix]


def _html(findings: Findings) -> str:
    from karat.report.page.file import render_findings

    return render_findings(findings)


def _markdown(findings: Findings) -> str:
    from karat.report.findings.tables import tables
    from karat.report.table import plain, render

    title = f"# {plain(findings.heading)}\n\n{plain(findings.about)}\n"
    return "\n".join((title, *map(render, tables(findings.labelled()))))


def _text(findings: Findings) -> str:
    from karat.report.findings.tables import tables
    from karat.report.text import render

    return "\n".join(map(render, tables(findings.labelled())))


def _latex(findings: Findings) -> str:
    from karat.report.findings.leaderboard import leaderboard_table
    from karat.report.findings.tables import slice_tables

    return "\n".join(map(render, (leaderboard_table(findings), *slice_tables(findings))))


def _csv(findings: Findings) -> str:
    from karat.report.csv import queries_csv

    return queries_csv(findings.contest.evaluations)


def _json(findings: Findings) -> str:
    from karat.report.findings.insights import insights
    from karat.report.findings.loss_reasons import listed_reasons, loss_reason_counts
    from karat.report.findings.method import differences, shallow
    from karat.report.findings.recommend import recommendations
    from karat.report.json import contest_plain, plain

    found = contest_plain(findings.contest, findings.settings)
    listed = listed_reasons(findings)
    more = {
        "origin": findings.origin,
        "not_comparable": differences(findings),
        "remarks": (*shallow(findings), *findings.remarks),
        "recommendations": [advice._asdict() for advice in recommendations(findings)],
        "insights": insights(findings),
        "latency": findings.latency,
        "resolved": findings.resolved,
        "targets": {
            row.run: {kind.name.lower(): row.counts[kind] for kind in listed}
            for row in loss_reason_counts(findings)
        },
        "lost": [
            {
                "run": findings.names[run],
                "query_id": findings.gold.query_ids[query],
                "target": target,
                "by": reason,
            }
            for (run, query, target), reason in sorted(findings.losses.items())
        ],
        "curves": [curve._asdict() for curve in findings.curves],
    }
    found |= {key: plain(value) for key, value in more.items()}
    # Every query of every run: indented, it would be twice as long and take ten times as long.
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


FORMATS: dict[str, Callable[[Findings], str]] = {
    ".html": _html,
    ".md": _markdown,
    ".txt": _text,
    ".csv": _csv,
    ".json": _json,
    ".tex": _latex,
}
