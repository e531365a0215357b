"""Reports and results written to files, in the formats that their names ask for."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.output.schema_files import write_schema
from karat.formats.results import FOLDER_FORMATS
from karat.installation import install_hint

if TYPE_CHECKING:
    from karat.app.report import ReportInputs
    from karat.app.schemas import RunExport
    from karat.report.findings import Findings
    from karat.scoring.settings import Confidence, Scoring

__all__ = [
    "export_runs",
    "make_findings",
    "write_charts",
    "write_folder",
    "write_report",
]

REPORTS = {"markdown": "report.md", "html": "report.html"}


def make_findings(
    found: "ReportInputs",
    scoring: "Scoring",
    confidence: "Confidence",
    *,
    by: Sequence[str] | None = None,
    title: str = "",
) -> "Findings":
    """Return what a report shows of *found*, made now, its remarks before those on the runs."""
    from karat.app.report import origin, report
    from karat.installation import __version__

    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    findings = report(
        found.gold,
        found.runs,
        origin=origin(
            found.gold,
            found.digests,
            made_at=made_at,
            version=__version__,
            records=found.records,
        ),
        scoring=scoring,
        confidence=confidence,
        by=by,
        evaluations=found.evaluations,
    )
    return replace(findings, remarks=(*found.remarks, *findings.remarks), title=title)


def export_runs(
    found: "ReportInputs", scoring: "Scoring", confidence: "Confidence"
) -> "list[RunExport]":
    """Return what other benchmarks' results are made from, as of now."""
    from karat.app.schemas import RunExport

    now = datetime.now(UTC).isoformat(timespec="seconds")
    scores = zip_longest(found.runs, found.evaluations)
    return [RunExport(found.gold, run, now, scoring, confidence, known) for run, known in scores]


def write_report(findings: "Findings", path: str, *, charts: "Sequence[Path]" = ()) -> None:
    """Write a report in the format of its name; Markdown shows the *charts* that lie beside it."""
    from karat.report.draw import draw
    from karat.system.files import write_text

    text = draw(findings, path)
    shown = [chart.name for chart in charts if chart.suffix == ".png"]
    if shown and path.endswith(".md"):
        from karat.report.table import pictures

        text += f"\n{pictures(shown)}"
    write_text(path, text)
    click.echo(f"wrote {path}", err=True)


def write_charts(findings: "Findings", folder: str) -> "list[Path]":
    """Write the charts as PNG and SVG files, and return these."""
    from karat.report.figures import write_figures

    written = write_figures(findings, folder)
    for path in written:
        click.echo(f"wrote {path}", err=True)
    return written


def write_folder(
    folder: str,
    findings: "Findings",
    judged: "Sequence[RunExport]",
    *,
    formats: Sequence[str] = FOLDER_FORMATS,
    charts: bool = False,
) -> None:
    """Fill *folder*: a file of results for each run, reports on all of them, and charts."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    if charts and find_spec("matplotlib") is None:
        click.echo(f"warning: charts need matplotlib: {install_hint('charts')}", err=True)
    elif charts:
        drawn = write_charts(findings, folder)
    for name in formats:
        if name in REPORTS:
            write_report(findings, str(place / REPORTS[name]), charts=drawn)
        else:
            write_schema("agents", judged, str(place / f"{{engine}}.{name}"))
