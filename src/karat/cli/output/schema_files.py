"""Results written in the shapes of other benchmarks."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.output.run_files import make_namer
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.app.schemas import RunExport

__all__ = ["SCHEMAS", "check_schema", "write_schema"]

# The suffixes of the files in each shape.
SCHEMAS = {"akashic": (".json",), "octocode": (".json",), "agents": (".json", ".csv")}


def check_schema(schema: str, output: str) -> None:
    """Raise InputError where no file called *output* is written in the shape of *schema*."""
    if Path(output).suffix.lower() not in SCHEMAS[schema]:
        expected = " or ".join(SCHEMAS[schema])
        raise InputError(f"{output}: {schema} results need another ending; expected {expected}")


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
