"""karat conformance: write the cases, and check the results of a program."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.extension import Cell, Column, OutputPath, Table, counted, put_table

if TYPE_CHECKING:
    from karat.extensions.conformance.check import ConformanceResult

WRONG = 1


@click.group("conformance", cls=CommandGroup)
def command() -> None:
    """Check which conventions another evaluator follows, and where it is wrong.

    \b
    karat conformance export cases
    karat conformance check results.csv
    """


@command.command("export")
@click.argument("folder", type=OutputPath(file_okay=False, dir_okay=True), metavar="DIR")
def export_cases(folder: str) -> None:
    """Write small cases with expected values into DIR: TREC, JSON, CSV and a README.

    \b
    karat conformance export cases
    """
    from karat.extensions.conformance.cases import CASES
    from karat.extensions.conformance.export import TEMPLATE, export

    written = export(Path(folder))
    count = counted(len(CASES), "case")
    click.echo(f"wrote {count} in {counted(len(written), 'file')} to {folder}; fill {TEMPLATE}")


@command.command("check")
@click.argument("results", type=click.Path(exists=True, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check_results(ctx: click.Context, results: str, *, as_json: bool) -> None:
    """Say which conventions the program follows whose values are in RESULTS.

    RESULTS is results-template.csv of karat conformance export, filled. The exit code is 1 if a
    value is wrong.

    \b
    karat conformance check ranx.csv
    """
    from karat.cli.output.show import put_json
    from karat.extensions.conformance.check import check

    checked = check(Path(results))
    if as_json:
        findings = [
            finding._asdict() | {"expected": [each._asdict() for each in finding.expected]}
            for finding in checked.findings
        ]
        put_json({"findings": findings, "missing": checked.missing})
    else:
        put_table(_table(checked, Path(results).stem))
    ctx.exit(WRONG if checked.count("wrong") else 0)


def _table(checked: "ConformanceResult", name: str) -> Table:
    columns = (Column("case"), Column("convention"), Column("is"), Column("seen in", spare=1))
    rows = tuple(
        (
            Cell(finding.case, finding.case),
            Cell(finding.convention),
            Cell(finding.standing),
            Cell(finding.evidence),
        )
        for finding in checked.findings
    )
    counts = [f"{checked.count(each)} {each}" for each in ("usual", "other", "wrong")]
    notes = [
        f"{finding.case}: usual is {'; '.join(map(str, finding.expected))}"
        for finding in checked.findings
        if finding.standing == "wrong"
    ]
    if checked.missing:
        notes.append(f"without a value: {', '.join(checked.missing)}")
    conventions = counted(len(checked.findings), "convention")
    answer = f"{name}: {conventions} in {counted(checked.cases, 'case')}: {', '.join(counts)}."
    return Table(f"{name}: conventions", columns, rows, tuple(notes), conclusion=answer)
