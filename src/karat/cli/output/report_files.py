"""Files that commands write: reports, runs and results."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.errors import InputError
from karat.formats.results import FOLDER_FORMATS
from karat.installation import install_hint

if TYPE_CHECKING:
    from karat.app.report import ReportInputs
    from karat.app.schemas import RunExport
    from karat.cli.options.shared import Inputs, Output
    from karat.model import Run
    from karat.report.findings import Findings
    from karat.report.latex import LatexStyle
    from karat.scoring.settings import Confidence, Scoring


__all__ = [
    "NAME",
    "SCHEMAS",
    "check_schema",
    "export_runs",
    "is_report",
    "make_namer",
    "make_writer",
    "write_charts",
    "write_folder",
    "write_page",
    "write_report",
    "write_schema",
]

# In the name of a file that keeps runs, this becomes the name of the engine.
NAME = "{engine}"
NOT_IN_A_FILE_NAME = re.compile(r"[^\w.=,+-]+")


def make_namer(place: str, *, several: bool) -> Callable[[str], str]:
    """Return a function from run name to file; InputError if two runs would share a file."""
    if several and NAME not in place:
        raise InputError(f"{place}: several runs need several files; put {NAME} into the name")
    taken: set[str] = set()

    def name(run: str) -> str:
        path = place.replace(NAME, NOT_IN_A_FILE_NAME.sub("_", run).strip("_"))
        if path in taken:
            raise InputError(f"{path}: two runs would write to this file, the second is {run!r}")
        taken.add(path)
        return path

    return name


def make_writer(place: str, format_name: str | None, *, several: bool) -> "Callable[[Run], None]":
    """Return a function that writes a run to *place*, or several to the files that it names.

    A warning lists what the format cannot store: a run without its lines gets other scores.
    """
    file_of = make_namer(place, several=several)

    def keep(run: "Run") -> None:
        from karat.formats import write
        from karat.formats.unsupported import losses

        path = file_of(run.name)
        lost = losses(run, write(run, path, format=format_name))
        click.echo(f"wrote {path}", err=True)
        if lost:
            click.echo(
                f"warning: not written: {', '.join(lost)}; a .jsonl file stores everything",
                err=True,
            )

    return keep


def is_report(output: "Output") -> bool:
    """Return whether -o names a report: a style such as --json has precedence.

    InputError is raised for a folder or an unknown ending.
    """
    if output.path is None or output.style is not None:
        return False
    if output.path.endswith(("/", "\\")) or Path(output.path).is_dir():
        raise InputError(f"{output.path}: a folder of results needs engines; see --agents")
    if Path(output.path).suffix.lower() in ("", ".txt"):
        return False
    from karat.report.draw import drawer

    drawer(output.path)
    return True


def write_page(
    names: "Sequence[str]",
    inputs: "Inputs",
    output: "Output",
    *,
    settings: "tuple[Scoring, Confidence]",
) -> None:
    """Write the report on a gold set and run files."""
    from karat.app.report import gather, make_findings

    found = gather(names, store="", reading=inputs.gold, run_format=inputs.run_format)
    findings = make_findings(found, *settings, by=inputs.by or None, title=output.title)
    write_report(findings, str(output.path))


# The suffixes of the files in each shape.
SCHEMAS = {"akashic": (".json",), "octocode": (".json",), "agents": (".json", ".csv")}


def check_schema(schema: str, output: str) -> None:
    """Raise InputError where no file called *output* is written in the shape of *schema*."""
    if Path(output).suffix.lower() not in SCHEMAS[schema]:
        expected = " or ".join(SCHEMAS[schema])
        raise InputError(f"{output}: --schema {schema} writes {expected} files")


def write_schema(schema: str, judged: "Sequence[RunExport]", output: str) -> None:
    """Write *judged* runs to *output*.

    Akashic has a shape for several at once; of the others each run is a file of its own.
    """
    check_schema(schema, output)
    if schema == "akashic":
        _write_akashic(judged, output)
        return
    file_of = make_namer(output, several=len(judged) > 1)
    write = _write_octocode if schema == "octocode" else _write_agent
    for each in judged:
        path = file_of(each.measured.name)
        write(each, Path(path))
        click.echo(f"wrote {path}", err=True)


def _write_akashic(judged: "Sequence[RunExport]", output: str) -> None:
    from karat.app.schemas import akashic_report
    from karat.formats.akashic_report import write_comparison, write_report

    reports = [akashic_report(each) for each in judged]
    if len(reports) == 1:
        write_report(reports[0], Path(output))
    else:
        write_comparison(reports, Path(output), timestamp=reports[0].timestamp)
    click.echo(f"wrote {output}", err=True)


def _write_octocode(judged: "RunExport", path: Path) -> None:
    from karat.app.schemas import octocode_results
    from karat.formats.octocode import write_octocode_results

    write_octocode_results(octocode_results(judged), path)


def _write_agent(judged: "RunExport", path: Path) -> None:
    from karat.app.schemas import agent_results
    from karat.formats.results import write_results_json
    from karat.formats.results_csv import write_results_csv

    write = write_results_csv if path.suffix.lower() == ".csv" else write_results_json
    write(agent_results(judged), path)


REPORTS = {"markdown": "report.md", "html": "report.html"}


def export_runs(
    found: "ReportInputs", scoring: "Scoring", confidence: "Confidence"
) -> "list[RunExport]":
    """Return what other benchmarks' results are made from, as of now."""
    from karat.app.schemas import RunExport

    now = datetime.now(UTC).isoformat(timespec="seconds")
    scores = zip_longest(found.runs, found.evaluations)
    return [RunExport(found.gold, run, now, scoring, confidence, known) for run, known in scores]


def write_report(
    findings: "Findings",
    path: str,
    *,
    charts: "Sequence[Path]" = (),
    latex: "LatexStyle | None" = None,
) -> None:
    """Write a report in the format of its name.

    Markdown shows the *charts* in the same folder; *latex* is the style of a ``.tex`` file.
    """
    from karat.report.draw import draw
    from karat.system.files import write_text

    text = draw(findings, path, latex=latex)
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
