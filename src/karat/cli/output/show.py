"""Print results, or write them to files: tables, reports, runs."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import Output
from karat.errors import InputError
from karat.formats.base import FOLDER_FORMATS
from karat.model import Dataset
from karat.model.evaluation import Evaluation
from karat.model.frozen import EMPTY
from karat.registry import Registry
from karat.report import score_view
from karat.report.table import Table, mark_of, marked

if TYPE_CHECKING:
    from pathlib import Path

    from karat.app.report import ReportInputs
    from karat.app.schemas import ResultSchema, RunExport
    from karat.app.score import Truth
    from karat.cli.options.shared import Inputs
    from karat.model import Run
    from karat.report.findings import Findings
    from karat.report.latex import LatexStyle
    from karat.report.rows import Result
    from karat.scoring.settings import Confidence, Scoring


# In the name of a file that keeps runs, this becomes the name of the engine.
ENGINE_PLACEHOLDER = "{engine}"
NOT_IN_A_FILE_NAME = r"[^\w.=,+-]+"


# Where to read what the overview leaves out.
MORE = "More: --details (intervals, tests, method), --per-query"
MORE_SHORT = "More: --details, --per-query"
# Output that goes elsewhere than to a terminal is at most so wide.
PIPED_WIDTH = 100


def show_result(
    result: "Result",
    truth: "Truth",
    output: Output,
    *,
    settings: "tuple[Scoring, Confidence]",
) -> None:
    """Show one scored run, or several compared."""
    if output.style == "json":
        from karat.report.json import result_json

        text = result_json(result, settings_by_name(settings))
    elif output.style == "csv":
        from karat.report.csv import queries_csv, result_csv

        _warn(result.warnings)
        runs = [result] if isinstance(result, Evaluation) else result.evaluations
        text = queries_csv(runs) if output.per_query else result_csv(result)
    elif output.details:
        main, *slices = detail_tables(result)
        text = draw_tables([main, *slices, *query_tables(result, truth, output)], output)
    else:
        from karat.scoring.settings import compared_by

        # A report needs a gold set, not a run in its place.
        more = MORE if compared_by(truth) else f"{MORE}, -o report.html"
        text = draw_tables(overview_tables(result, truth, output, more=more), output)
    put(text, output)


def overview_tables(
    result: "Result",
    truth: "Truth",
    output: Output,
    *,
    medians_ms: "Mapping[str, float]" = EMPTY,
    ranked: bool = False,
    notes: Sequence[str] = (),
    more: str = MORE,
) -> list[Table]:
    """Return the overview of *result*, then tables by tag and by query if they were asked for.

    The lines *notes* come below the table, *more* at the end.
    """
    from karat.report.overview import breakdown_tables, overview

    result = result.labelled()
    last = "" if output.style == "markdown" else more
    table = overview(result, medians_ms=medians_ms, ranked=ranked, notes=notes, more=last)
    tables = [marked(each, result.mark) for each in (table, *breakdown_tables(result))]
    return [*_with_gold(tables), *query_tables(result, truth, output)]


def detail_tables(result: "Result") -> list[Table]:
    """Return every interval and test of *result*: of all queries, then of the values of tags."""
    from karat.report.overview import verdict_of

    result = result.labelled()
    if isinstance(result, Evaluation):
        tables = [score_view.score_table(result), *score_view.slice_tables(result)]
    else:
        # It brings the statistics along, and numpy with them, which a plain score can do without.
        from karat.report import compare_view

        tables = [compare_view.compare_table(result), *compare_view.slice_tables(result)]
    tables[0] = replace(tables[0], conclusion=verdict_of(result), warnings=result.warnings)
    return _with_gold([marked(table, result.mark) for table in tables])


def query_tables(result: "Result", truth: "Truth", output: Output) -> list[Table]:
    """Return a table of every query, if it was asked for."""
    if not output.per_query:
        return []
    result = result.labelled()
    if isinstance(result, Evaluation):
        return [marked(score_view.per_query_table(result, _texts(truth)), result.mark)]
    from karat.report import compare_view

    lead = result.comparison.metrics[0]
    table = compare_view.per_query_table(result, _texts(truth), lead)
    return [marked(table, mark_of(result.mark, lead))]


def worst_table(evaluation: Evaluation, truth: "Truth", command: str) -> Table:
    """Return the queries with the worst scores; *command* shows why each was lost."""
    table = score_view.worst_table(evaluation.labelled(), _texts(truth))
    notes = (f"why: {command} --query ID",) if command else ()
    return marked(replace(table, notes=notes), evaluation.mark)


def _with_gold(tables: list[Table]) -> list[Table]:
    """Return *tables* with the gold set that was typed in the warnings of the first of them."""
    first, *others = tables
    return [replace(first, warnings=tuple(map(with_gold, first.warnings))), *others]


def with_gold(text: str) -> str:
    """Return *text* with the gold set that was typed in place of ``GOLDSET``."""
    typed = click.get_current_context().params
    names = [typed.get(name) for name in ("gold", "goldset", "gold_set")]
    # compare GOLD --agents, or GOLD before run files; a single run file has a recorded gold set.
    words: tuple[str, ...] = typed.get("names") or ()
    if len(words) > 1 or (words and typed.get("agents")):
        names.append(words[0])
    path = next((name for name in names if isinstance(name, str)), None)
    import shlex

    return text.replace(" GOLDSET ", f" {shlex.quote(path)} ") if path else text


def draw_tables(
    tables: list[Table], output: Output, *, piped_width: int | None = PIPED_WIDTH
) -> str:
    """Return *tables* as Markdown, or as text for the terminal, a pipe or a file."""
    if output.style == "markdown":
        from karat.report.table import markdown_table

        return "\n".join(map(markdown_table, tables))
    from karat.report.text import text_table

    terminal = None if output.path else terminal_width()
    # A file, and the details in a pipe, lose no column.
    width = terminal or (None if output.path or output.details else piped_width)
    # https://no-color.org: any value but an empty one.
    colour = terminal is not None and not os.environ.get("NO_COLOR")
    return "\n".join(text_table(table, colour=colour, width=width) for table in tables)


def terminal_width() -> int | None:
    """Return the columns of the terminal, None where the output goes elsewhere."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def _warn(warnings: tuple[str, ...]) -> None:
    """Print *warnings* beside output that has no place for them."""
    from karat.report.display import printable

    for text in warnings:
        click.echo(printable(f"warning: {with_gold(text)}"), err=True)


def put(text: str, output: Output) -> None:
    """Print *text*, or write it to the file that *output* names."""
    if output.path is None:
        # Escape sequences in CSV are data; `color` keeps click from removing them.
        click.echo(text, nl=False, color=True)
        return
    from karat.system.files import write_text

    write_text(output.path, text)
    click.echo(f"wrote {output.path}", err=True)


def put_table(table: Table) -> None:
    """Print *table*, in a pipe with all of its columns."""
    put(draw_tables([table], Output(), piped_width=None), Output())


def put_json(value: object) -> None:
    """Print *value* as JSON."""
    from karat.formats.jsontext import dumps
    from karat.report.json import plain

    click.echo(dumps(plain(value)))


def _texts(truth: "Truth") -> dict[str, str]:
    if not isinstance(truth, Dataset):
        return {}
    return dict(zip(truth.query_ids, truth.texts, strict=True))


def settings_by_name(settings: "tuple[Scoring, Confidence]") -> dict[str, object]:
    """Return *settings* by name, for machines."""
    scoring, confidence = settings
    return {"scoring": scoring, "confidence": confidence}


def make_namer(pattern: str, *, several: bool) -> Callable[[str], str]:
    """Return a function from run name to file; InputError if two runs would share a file."""
    if several and ENGINE_PLACEHOLDER not in pattern:
        raise InputError(
            f"{pattern}: several runs need several files; put {ENGINE_PLACEHOLDER} into the name"
        )
    taken: set[str] = set()

    def name(run: str) -> str:
        path = pattern.replace(ENGINE_PLACEHOLDER, re.sub(NOT_IN_A_FILE_NAME, "_", run).strip("_"))
        if path in taken:
            raise InputError(f"{path}: two runs would write to this file, the second is {run!r}")
        taken.add(path)
        return path

    return name


def make_writer(pattern: str, format_name: str | None, *, several: bool) -> "Callable[[Run], None]":
    """Return a function that writes a run to the file that *pattern* names.

    A warning lists what the format cannot store: a run without its lines gets other scores.
    """
    file_of = make_namer(pattern, several=several)

    def keep(run: "Run") -> None:
        from karat.formats import write
        from karat.formats.base import losses

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
    if output.path.endswith(("/", "\\")) or os.path.isdir(output.path):  # noqa: PTH112 - pathlib loads slowly
        raise InputError(f"{output.path}: a folder of results needs engines; see --agents")
    if os.path.splitext(output.path)[1].lower() in ("", ".txt"):  # noqa: PTH122 - as above
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
    store: str = "",
) -> None:
    """Write the report on a gold set and runs: files, or runs in the *store*."""
    from karat.app.report import gather, make_findings

    report_inputs = gather(names, store=store, reading=inputs.gold, run_format=inputs.run_format)
    findings = make_findings(report_inputs, *settings, by=inputs.by or None, title=output.title)
    write_report(findings, str(output.path))


# How `karat report --schema` stores the results of other benchmarks.
SCHEMAS: "Registry[ResultSchema]" = Registry("schema", {"agents": "karat.app.schemas:AGENTS"})


def schema_names() -> list[str]:
    """Return the schemas of a report: Karat's own first, then those of other benchmarks."""
    core = SCHEMAS.core()
    return ["karat", *(name for name in SCHEMAS if name not in core), *core]


def check_schema(schema: str, output: str) -> None:
    """Raise InputError where no file called *output* is written in the shape of *schema*."""
    suffixes = SCHEMAS.get(schema).suffixes
    if os.path.splitext(output)[1].lower() not in suffixes:  # noqa: PTH122 - as above
        raise InputError(f"{output}: --schema {schema} writes {' or '.join(suffixes)} files")


def write_schema(schema: str, judged: "Sequence[RunExport]", output: str) -> None:
    """Write *judged* runs to *output*: each to its own file, unless one file holds several."""
    from pathlib import Path

    check_schema(schema, output)
    chosen = SCHEMAS.get(schema)
    if chosen.holds_several:
        chosen.write(judged, Path(output))
        click.echo(f"wrote {output}", err=True)
        return
    file_of = make_namer(output, several=len(judged) > 1)
    for each in judged:
        path = file_of(each.measured.name)
        chosen.write([each], Path(path))
        click.echo(f"wrote {path}", err=True)


REPORTS = {"markdown": "report.md", "html": "report.html"}


def export_runs(
    inputs: "ReportInputs", scoring: "Scoring", confidence: "Confidence"
) -> "list[RunExport]":
    """Return what other benchmarks' results are made from, as of now."""
    from karat.app.schemas import RunExport

    now = datetime.now(UTC).isoformat(timespec="seconds")
    gold, judged = inputs.gold, zip_longest(inputs.runs, inputs.evaluations)
    return [RunExport(gold, run, now, scoring, confidence, known) for run, known in judged]


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
    pictured = [chart.name for chart in charts if chart.suffix == ".svg"]
    if pictured and path.endswith(".md"):
        from karat.report.table import pictures

        text += f"\n{pictures(pictured)}"
    write_text(path, text)
    click.echo(f"wrote {path}", err=True)


def write_charts(findings: "Findings", folder: str) -> "list[Path]":
    """Write the charts as files, and return these."""
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
    from pathlib import Path

    folder_path = Path(folder)
    folder_path.mkdir(parents=True, exist_ok=True)
    drawn = write_charts(findings, folder) if charts else []
    for name in formats:
        if name in REPORTS:
            write_report(findings, str(folder_path / REPORTS[name]), charts=drawn)
        else:
            write_schema("agents", judged, str(folder_path / f"{{engine}}.{name}"))
