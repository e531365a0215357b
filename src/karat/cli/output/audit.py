"""Show the doubtful labels of an audit, and walk through them with a person."""

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.output.judging import cost_text, grading_options, print_skipped, run_models
from karat.cli.output.show import put_json, put_table
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.app.audit import AuditDecisions, AuditResult, AuditRow
    from karat.app.judge import Code, PooledHit
    from karat.app.model_judge import SkippedPassage
    from karat.cli.options.models import ModelOptions
    from karat.model import Dataset
    from karat.report.table import Table

__all__ = ["audit_labels", "decide_rows"]

LISTED = 20
PROMPT = "a accept, k keep, 0-3 your own grade, s skip, q quit: "
KEYS = {"a": "accept", "k": "keep"}


def audit_labels(
    data: "Dataset",
    hits: "Sequence[PooledHit]",
    code: "Code",
    asking: "ModelOptions",
    *,
    goldset: str,
    path: str | None,
    as_json: bool,
) -> None:
    """Check the labels of *data* with models; print the doubtful ones, or write them to *path*."""
    from karat.app.audit import LabelAudit, check_ending, target_passages, unjudged
    from karat.app.model_judge import open_models, passages_of

    if path:
        check_ending(path)
    targets, skipped = target_passages(data, code, hits)
    passages, without_text = passages_of(data, unjudged(data, hits), code)
    models = open_models(asking.models, asking.prices, timeout_s=asking.timeout)
    with grading_options(asking) as options:
        work = LabelAudit(data, models, targets, passages, options=options)
        result = run_models(work, asking)
    if result is not None:
        skipped = [*skipped, *without_text]
        print_audit(result, skipped, goldset=goldset, path=path, as_json=as_json)


def print_audit(
    result: "AuditResult",
    skipped: "Sequence[SkippedPassage]",
    *,
    goldset: str,
    path: str | None,
    as_json: bool,
) -> None:
    """Print the doubtful labels, and write them to *path* if there is one."""
    from karat.app.audit import audit_json, write_audit

    if path:
        write_audit(result.rows, path)
    if as_json:
        spends = {
            name: {
                "requests": spend.requests,
                "cached": spend.cached,
                "prompt_tokens": spend.prompt_tokens,
                "completion_tokens": spend.completion_tokens,
                "cost": spend.cost,
                "uncertain_cost": spend.uncertain,
            }
            for name, spend in result.spends.items()
        }
        counts = {
            "checked": result.checked,
            "left": result.left,
            "invalid": len(result.invalid),
            "failed": len(result.failed),
            "without_text": len(skipped),
        }
        put_json({"rows": audit_json(result.rows), **counts, "judges": spends})
        return
    if result.rows:
        put_table(_table(result.rows[:LISTED]))
    if len(result.rows) > LISTED:
        how = "" if path else " (-o audit.csv or --json lists all)"
        click.echo(f"... and {len(result.rows) - LISTED:,} more{how}")
    print_skipped(f"{counted(len(skipped), 'label or hit')} without text", skipped)
    print_skipped(counted(len(result.invalid), "invalid answer"), result.invalid)
    print_skipped(counted(len(result.failed), "failed request"), result.failed)
    if result.left:
        click.echo(f"{result.left:,} not checked: the spending limit was reached", err=True)
    cost = sum(spend.cost for spend in result.spends.values())
    click.echo(
        f"{result.checked:,} checked, {counted(len(result.rows), 'doubt')}; "
        f"{cost_text(cost)} spent; the gold set is unchanged"
    )
    if path and result.rows:
        click.echo(printable(f"wrote {path}; next: karat judge {goldset} --decide {path}"))


def _table(rows: "Sequence[AuditRow]") -> "Table":
    from karat.app.judge import place_text
    from karat.report.table import Cell, Column, Table

    columns = (
        *(Column("query"), Column("problem"), Column("place")),
        *(Column("label", numeric=True), Column("model", numeric=True)),
        *(Column("suggestion"), Column("reason", spare=1)),
    )
    cells = [
        (
            *(Cell(row.query_id), Cell(row.problem), Cell(place_text(row.target))),
            *(Cell(_label(row)), Cell(str(row.model_grade))),
            *(Cell(_suggestion(row)), Cell(row.reason)),
        )
        for row in rows
    ]
    return Table("Doubtful labels, the largest difference first", columns, tuple(cells))


def _label(row: "AuditRow") -> str:
    return "-" if math.isnan(row.target.grade) else f"{row.target.grade:g}"


def _suggestion(row: "AuditRow") -> str:
    if row.problem == "range":
        return f"lines {row.suggested.start_line}-{row.suggested.end_line}"
    verb = "add with grade" if row.problem == "missing" else "grade"
    return f"{verb} {row.suggested.grade:g}"


def decide_rows(
    decisions: "AuditDecisions", rows: "Sequence[AuditRow]", path: str, code: "Code"
) -> None:
    """Apply the decisions in *rows*; ask for the others, and write them to the file *path*."""
    from karat.app.audit import write_audit

    given = [row for row in rows if row.decision]
    changed, stale, kept = decisions.apply(given)
    before = len(given) - changed - len(stale)
    current = list(rows)
    open_rows = [at for at, row in enumerate(rows) if not row.decision and decisions.is_open(row)]
    for number, at in enumerate(open_rows, 1):
        if not decisions.is_open(current[at]):
            continue
        _show(decisions, current[at], code, f"[{number} of {len(open_rows)}]")
        decision = _ask()
        if decision is None:
            break
        if decision:
            current[at] = replace(current[at], decision=decision)
            applied = decisions.apply([current[at]])
            changed, kept = changed + applied.changed, kept + applied.kept
            write_audit(current, path)
    for row in stale:
        text = f"{row.query_id}  {row.target.path}: the label has changed since the audit"
        click.echo(printable(f"not applied: {text}"), err=True)
    left = sum(not row.decision and decisions.is_open(row) for row in current)
    saved = f", saved in {os.fspath(decisions.path)}" if changed else ""
    counts = {
        "kept": kept,
        "applied before": before,
        "not applied": len(stale),
    }
    more = "".join(f", {count:,} {name}" for name, count in counts.items() if count)
    click.echo(printable(f"{changed - kept:,} applied, {left:,} left{more}{saved}"))


def _show(decisions: "AuditDecisions", row: "AuditRow", code: "Code", number: str) -> None:
    from karat.app.judge import lines_of, place_text
    from karat.report.text import code_lines

    at = decisions.data.query_ids.index(row.query_id)
    click.echo("\n" + printable(f"{number} {row.query_id}: {decisions.data.texts[at]}"))
    target = row.target
    content = code(at, target.path)
    lines = lines_of(content.text)
    click.echo(printable(f"{place_text(target)}  (label {_label(row)}; {row.models})"))
    for line in code_lines(lines, target.start_line, target.end_line):
        click.echo(f"  {line}")
    if row.problem == "range":
        start, end = row.suggested.start_line, row.suggested.end_line
        click.echo(f"suggested: lines {start}-{end}")
        for line in code_lines(lines, start, end):
            click.echo(f"  {line}")
    click.echo(printable(f"{row.problem}: {_suggestion(row)}? {row.reason}"))


def _ask() -> str | None:
    """Return the decision, "" to skip, None to quit."""
    while True:
        click.echo(PROMPT, nl=False)
        line = sys.stdin.readline()
        key = line.strip().lower()
        if not line or key == "q":
            click.echo()
            return None
        if key in ("0", "1", "2", "3") or key in KEYS:
            return KEYS.get(key, key)
        if key == "s":
            return ""
        click.echo("expected a, k, 0, 1, 2, 3, s or q")
