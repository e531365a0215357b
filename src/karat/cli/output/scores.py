"""Print the comparison of a score file, or write its report."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.app.score_files import ScoredFiles, compare_scores, score_findings
from karat.cli.options.shared import Inputs, Output
from karat.cli.output.show import contest_tables, draw_tables, is_report, put, show_contest
from karat.cli.output.show import write_report as write_findings
from karat.report.display import printable
from karat.report.table import Table
from karat.scoring.settings import Scoring

if TYPE_CHECKING:
    from karat.scoring.settings import Confidence


def compare_score_files(
    scored: ScoredFiles, inputs: Inputs, confidence: "Confidence", output: Output
) -> None:
    """Show the systems of *scored* compared; the line on how they were read goes to stderr."""
    for line in (scored.preview, *(f"warning: {remark}" for remark in scored.remarks)):
        click.echo(printable(line), err=True)
    if is_report(output):
        findings = score_findings(
            scored, confidence=confidence, by=inputs.by or None, title=output.title
        )
        write_findings(findings, str(output.path))
        output = output._replace(path=None)
    contest, view = compare_scores(scored, confidence=confidence, by=inputs.by)
    if output.style in ("json", "csv"):
        show_contest(contest, scored.gold, output, settings=(Scoring(), confidence))
        return
    tables = contest_tables(contest, scored.gold, output)
    if view.verdict:
        tables[-1:] = _with_conclusion(view.tables, tables[-1])
    else:
        tables[-1:-1] = view.tables
    put(draw_tables(tables, output), output)


def _with_conclusion(tables: tuple[Table, ...], common: Table) -> list[Table]:
    """Return *tables* with the notes and the verdict of the *common* one below the last."""
    last = tables[-1]
    notes = (*last.notes, *common.notes)
    return [*tables[:-1], replace(last, notes=notes, conclusion=common.conclusion)]
