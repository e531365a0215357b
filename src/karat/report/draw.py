"""Draw a report in the format of the file name."""

import json
from collections.abc import Callable
from pathlib import PurePath

from karat.errors import InputError
from karat.report.findings import Findings
from karat.report.latex import LatexStyle, latex_table
from karat.report.latex import render as render_latex
from karat.report.table import mark_of, marked

__all__ = ["FORMATS", "draw", "drawer"]

PICTURES = frozenset({".png", ".svg"})


def draw(findings: Findings, name: str, *, latex: LatexStyle | None = None) -> str:
    """Return the report as the content of a file called *name*; its suffix names the format.

    *latex* is the style of the tables in a ``.tex`` file.
    """
    found = drawer(name)
    return _latex(findings, latex) if latex and found is _latex else found(findings)


def drawer(name: str) -> Callable[[Findings], str]:
    """Return the function that draws a file called *name*; InputError for an unknown suffix."""
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


def _latex(findings: Findings, style: LatexStyle | None = None) -> str:
    from karat.report.findings.tables import slice_tables

    mark = mark_of(findings.contest.mark, findings.lead)
    slices = [marked(table, mark) for table in slice_tables(findings.labelled())]
    return "\n".join((latex_table(findings.contest, style), *map(render_latex, slices)))


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
