"""Print the comparison of a score file, or write its report."""

from dataclasses import replace
from typing import TYPE_CHECKING

from karat.app.score_files import (
    ScoredFiles,
    compare_scores,
    score_findings,
    score_system,
    view_scores,
)
from karat.cli.options.shared import Inputs, Output
from karat.cli.output.show import (
    MORE,
    detail_tables,
    draw_tables,
    is_report,
    overview_tables,
    put,
    query_tables,
    settings_by_name,
    show_result,
)
from karat.cli.output.show import write_report as write_findings
from karat.model.evaluation import ComparisonResult
from karat.report.table import Table
from karat.scoring.settings import Scoring

if TYPE_CHECKING:
    from karat.report.rows import Result
    from karat.scoring.settings import Confidence


def compare_score_files(
    scored: ScoredFiles, inputs: Inputs, confidence: "Confidence", output: Output
) -> None:
    """Show the systems of *scored* compared, or the scores of a single one."""
    settings = Scoring(), confidence
    if is_report(output):
        findings = score_findings(
            scored, confidence=confidence, by=inputs.by or None, title=output.title
        )
        write_findings(findings, str(output.path))
        output = output._replace(path=None)
    result: Result
    view = None
    if len(scored.evaluations) == 1:
        result = score_system(scored, confidence=confidence, by=inputs.by)
    else:
        result, view = compare_scores(scored, confidence=confidence, by=inputs.by)
    if view and output.style == "json":
        from karat.report.json import result_json

        text = result_json(result, settings_by_name(settings), sections=view.sections)
        put(text, output)
        return
    if output.style in ("json", "csv"):
        show_result(result, scored.gold, output, settings=settings)
        return
    view = view or view_scores(scored, confidence)
    if output.details:
        common, *rest = detail_tables(result)
        of_view = (table for section in view.sections for table in section.tables)
        tables = [common, *of_view, *rest, *query_tables(result, scored.gold, output)]
    else:
        common, *rest = overview_tables(result, scored.gold, output)
        if isinstance(result, ComparisonResult) and view.verdict:
            common = replace(common, notes=(*result.further_tests, MORE))
            first = _in_place_of(common, view.tables)
        else:
            first = [common, *view.tables]
        tables = [*first, *rest]
    put(draw_tables(tables, output), output)


def _in_place_of(common: Table, tables: tuple[Table, ...]) -> list[Table]:
    """Return *tables* with the verdict of the *common* one above the first, its notes below."""
    first, *others = tables
    listed = [replace(first, conclusion=common.conclusion, warnings=common.warnings), *others]
    listed[-1] = replace(listed[-1], notes=(*listed[-1].notes, *common.notes))
    return listed
