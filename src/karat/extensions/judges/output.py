"""Print what model judges cost and gave, and walk through doubtful labels with a person."""

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import click

from karat.cli.output.progress import SPARSE_S, Pace, StatusLine, bar_text
from karat.cli.output.show import put_json, put_table
from karat.errors import EngineError
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.app.pooling import PooledHit
    from karat.extensions.judges.audit import AuditDecisions, AuditResult, AuditRow
    from karat.extensions.judges.by_model import (
        GradingOptions,
        JudgeEstimate,
        ModelSummary,
        ModelWork,
        SkippedPassage,
    )
    from karat.extensions.judges.options import ModelOptions
    from karat.extensions.judges.sources import Code
    from karat.model import Dataset
    from karat.report.table import Table


T = TypeVar("T")
LISTED_SKIPPED = 5
LISTED_DOUBTS = 20
DECISION_PROMPT = "a accept, k keep, 0-3 your own grade, s skip, q quit: "
DECISION_KEYS = {"a": "accept", "k": "keep"}


def cost_text(cost: float | None) -> str:
    """Return US dollars for people.

    >>> cost_text(0.00123), cost_text(12.5), cost_text(0), cost_text(None)
    ('$0.0012', '$12.50', '$0', 'unknown cost')
    """
    if cost is None:
        return "unknown cost"
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}" if cost else "$0"


def print_estimates(estimates: "Mapping[str, JudgeEstimate]") -> None:
    """Print the largest cost of each judge on standard error."""
    for name, (passages, each) in estimates.items():
        if not passages and not each.requests:
            click.echo(printable(f"{name}: nothing to grade; all labels exist"), err=True)
            continue
        if not each.requests:
            text = f"{name}: {counted(passages, 'passage')} to grade, all answers are cached"
            click.echo(printable(text), err=True)
            continue
        cached = f" ({each.cached:,} more are cached)" if each.cached else ""
        tokens = f"{each.prompt_tokens:,} + {each.completion_tokens:,} tokens"
        cost = "unknown; set --price"
        if each.cost is not None and each.likely is not None:
            cost = f"about {cost_text(each.likely)}, at most {cost_text(each.cost)}"
            cost = cost if each.cost else cost_text(0)
        text = (
            f"{name}: {counted(passages, 'passage')} to grade, "
            f"{counted(each.requests, 'request')}{cached}; at most {tokens}, cost: {cost}"
        )
        click.echo(printable(text), err=True)


def confirm_cost(
    estimates: "Mapping[str, JudgeEstimate]", *, max_cost: float | None, yes: bool
) -> None:
    """Print the estimates; on a terminal, ask whether to start if requests would be sent."""
    print_estimates(estimates)
    costs = [each.cost.cost for each in estimates.values()]
    known = [cost for cost in costs if cost is not None]
    if max_cost is not None and sum(known) > max_cost:
        click.echo(
            f"This is above --max-cost {max_cost:g}: grading stops before the limit is exceeded, "
            "and a later call continues.",
            err=True,
        )
    requests = sum(each.cost.requests for each in estimates.values())
    is_free = not requests or (len(known) == len(costs) and not sum(known))
    if not (yes or is_free) and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm("Start?", default=True, abort=True, err=True)


@contextmanager
def judge_progress(
    clock: Callable[[], float] = monotonic,
) -> Iterator[Callable[[str, int, int, float], None]]:
    """Yield what receives judge, done, total and spent dollars: a bar, or a line now and then."""
    paces: dict[str, tuple[Pace, int]] = {}
    line = StatusLine(sys.stderr, clock) if sys.stderr.isatty() else None
    said_s = clock()

    def receive(judge: str, done: int, total: int, cost: float) -> None:
        nonlocal said_s
        if not total:
            return
        if line and judge not in paces:
            line.end()
        pace, before = paces.get(judge, (Pace(), 0))
        pace.step(done - before, clock())
        paces[judge] = (pace, done)
        text = bar_text("judging", done, total, pace, f"{judge}  {cost_text(cost)} spent")
        if line:
            line.draw(text, now=done == total)
        elif clock() - said_s >= SPARSE_S:
            said_s = clock()
            click.echo(
                printable(f"judging: {judge} {done:,} of {total:,}, {cost_text(cost)} spent"),
                err=True,
            )

    try:
        yield receive
    finally:
        if line:
            line.end()


@contextmanager
def grading_options(asking: "ModelOptions") -> "Iterator[GradingOptions]":
    """Yield the options of models, with the cache of this user open."""
    from karat.extensions.judges.by_model import GradingOptions
    from karat.extensions.llm.batch import answer_cache

    with answer_cache() as cache:
        yield GradingOptions(
            batch=asking.batch,
            workers=asking.workers,
            max_tokens=asking.max_tokens,
            max_cost=asking.max_cost,
            cache=cache,
        )


def run_models(work: "ModelWork[T]", asking: "ModelOptions") -> "T | None":
    """Show the estimate, then run *work*; after a dry run return None."""
    estimates = work.estimates()
    if asking.dry_run:
        print_estimates(estimates)
        if example := work.example:
            from karat.extensions.llm.output import print_prompt

            print_prompt(example)
        else:
            click.echo("Nothing to send: all passages are graded.")
        return None
    confirm_cost(estimates, max_cost=asking.max_cost, yes=asking.yes)
    with judge_progress() as progress:
        return work.run(progress)


def judge_with_models(
    data: "Dataset",
    path: str,
    hits: "Sequence[PooledHit]",
    code: "Code",
    asking: "ModelOptions",
    *,
    as_json: bool,
) -> None:
    """Grade *hits* with models, save the labels in the gold set *path* and print a summary."""
    from karat.extensions.judges.by_model import ModelJudging, open_models, passages_of

    if not hits and not as_json:
        click.echo("no unjudged hits; --judged also grades those that people judged", err=True)
        return
    passages, skipped = passages_of(data, hits, code)
    models = open_models(asking.models, asking.prices, timeout_s=asking.timeout)
    with grading_options(asking) as options:
        judging = ModelJudging(data, path, models, passages, options=options, probe=asking.probe)
        try:
            summaries = run_models(judging, asking)
        except KeyboardInterrupt:
            text = (
                f"interrupted; labels are saved in {path}, and answers that arrived last are "
                "cached: the same command continues without paying again"
            )
            click.echo(printable(text), err=True)
            raise
    if summaries is None:
        return
    print_summaries(summaries, skipped, path=path, as_json=as_json)
    if any(each.failed and not any(each.grades.values()) for each in summaries):
        click.get_current_context().exit(EngineError.exit_code)


def print_skipped(title: str, skipped: "Sequence[SkippedPassage]") -> None:
    """Print *title* and the first of *skipped* on standard error."""
    from karat.extensions.judges.sources import target_text

    if not skipped:
        return
    click.echo(f"{title}:", err=True)
    listed = skipped[:LISTED_SKIPPED]
    for query_id, target, reason in listed:
        click.echo(printable(f"  {query_id}  {target_text(target)}: {reason}"), err=True)
    if len(skipped) > len(listed):
        click.echo(f"  ... and {len(skipped) - len(listed):,} more (--json lists all)", err=True)


def print_summaries(
    summaries: "Sequence[ModelSummary]",
    skipped: "Sequence[SkippedPassage]",
    *,
    path: str,
    as_json: bool,
) -> None:
    """Print the summary of a run of model judges."""
    if as_json:
        put_json(_as_json(summaries, skipped, path))
        return
    # A judge whose labels all existed did nothing; the estimate says so.
    active = [one for one in summaries if one.spend.requests or one.spend.cached or one.left]
    if active:
        put_table(_summaries_table(active))
    print_skipped(f"{counted(len(skipped), 'hit')} without text, not graded", skipped)
    for each in summaries:
        who = f"{each.judge}: " if len(summaries) > 1 else ""
        print_skipped(f"{who}{counted(len(each.invalid), 'invalid answer')}", each.invalid)
        print_skipped(f"{who}{counted(len(each.failed), 'failed request')}", each.failed)
    # All judges saw the same passages.
    flagged = summaries[0].flagged if summaries else ()
    print_skipped(
        f"{counted(len(flagged), 'passage')} with text that addresses a judge (prompt injection?); "
        "graded without these lines",
        flagged,
    )
    for each in summaries:
        if each.probe and each.probe.passages:
            click.echo(
                printable(
                    f"{each.judge}: with these lines, {each.probe.changed:,} of "
                    f"{counted(each.probe.passages, 'grade')} change, by "
                    f"{each.probe.mean_change:+.2f} on average"
                ),
                err=True,
            )
    _print_end(summaries, path)


def _print_end(summaries: "Sequence[ModelSummary]", path: str) -> None:
    left = sum(each.left for each in summaries)
    if left:
        how = (
            "repeat the command to continue (--max-cost limits each call)"
            if any(each.spend.requests for each in summaries)
            else "raise --max-cost: it is below the cost of one request"
        )
        said = f"{counted(left, 'label')} left: the spending limit was reached; {how}"
        click.echo(said, err=True)
    lost = sum(each.spend.uncertain for each in summaries)
    if lost:
        click.echo(f"lost answers may cost up to {cost_text(lost)} more", err=True)
    new = sum(sum(each.grades.values()) for each in summaries)
    if new:
        click.echo(printable(f"{counted(new, 'model label')} saved in {path}"))


def _summaries_table(summaries: "Sequence[ModelSummary]") -> "Table":
    from karat.report.table import Cell, Column, Table

    titles = ("0", "1", "2", "3", "invalid", "failed", "left", "before", "cached", "requests")
    columns = (
        Column("judge"),
        *(Column(title, numeric=True) for title in (*titles, "tokens", "cost")),
    )
    rows = []
    for each in summaries:
        spend = each.spend
        counts = (
            *each.grades.values(),
            *(len(each.invalid), len(each.failed), each.left, each.known),
            *(spend.cached, spend.requests, spend.prompt_tokens + spend.completion_tokens),
        )
        cost = cost_text(spend.cost) if each.is_priced else "?"
        rows.append((Cell(each.judge), *(Cell(f"{n:,}", n) for n in counts), Cell(cost)))
    return Table("Labels per grade", columns, tuple(rows))


def _as_json(
    summaries: "Sequence[ModelSummary]", skipped: "Sequence[SkippedPassage]", path: str
) -> dict[str, object]:
    return {
        "path": path,
        "without_text": [_row(each) for each in skipped],
        "judges": [
            {
                "judge": each.judge,
                "labels": {str(grade): count for grade, count in each.grades.items()},
                "before": each.known,
                "left": each.left,
                "invalid": [_row(one) for one in each.invalid],
                "failed": [_row(one) for one in each.failed],
                "injection": [_row(one) for one in each.flagged],
                "injection_probe": each.probe._asdict() if each.probe else None,
                "requests": each.spend.requests,
                "retries": each.spend.retries,
                "cached": each.spend.cached,
                "prompt_tokens": each.spend.prompt_tokens,
                "completion_tokens": each.spend.completion_tokens,
                "cost": each.spend.cost if each.is_priced else None,
                "uncertain_cost": each.spend.uncertain,
                "limit_reached": each.spend.is_stopped,
            }
            for each in summaries
        ],
    }


def _row(skipped: "SkippedPassage") -> dict[str, object]:
    target = skipped.target
    return {
        "query_id": skipped.query_id,
        "path": target.path,
        "start_line": target.start_line,
        "end_line": target.end_line,
        "symbol": target.symbol,
        "reason": skipped.reason,
    }


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
    from karat.extensions.judges.audit import LabelAudit, check_ending, target_passages, unjudged
    from karat.extensions.judges.by_model import open_models, passages_of

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
    from karat.extensions.judges.audit import audit_json, write_audit

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
        put_table(_doubts_table(result.rows[:LISTED_DOUBTS]))
    if len(result.rows) > LISTED_DOUBTS:
        how = "" if path else " (-o audit.csv or --json lists all)"
        click.echo(f"... and {len(result.rows) - LISTED_DOUBTS:,} more{how}")
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


def _doubts_table(rows: "Sequence[AuditRow]") -> "Table":
    from karat.extensions.judges.sources import target_text
    from karat.report.table import Cell, Column, Table

    columns = (
        *(Column("query"), Column("problem"), Column("place")),
        *(Column("label", numeric=True), Column("model", numeric=True)),
        *(Column("suggestion"), Column("reason", spare=1)),
    )
    cells = [
        (
            *(Cell(row.query_id), Cell(row.problem), Cell(target_text(row.target))),
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
    from karat.extensions.judges.audit import write_audit

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
    from karat.corpus.chunkers.base import lines_of
    from karat.extensions.judges.sources import code_lines, target_text

    at = decisions.data.query_ids.index(row.query_id)
    click.echo("\n" + printable(f"{number} {row.query_id}: {decisions.data.texts[at]}"))
    target = row.target
    content = code(at, target.path)
    lines = lines_of(content.text)
    click.echo(printable(f"{target_text(target)}  (label {_label(row)}; {row.models})"))
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
        click.echo(DECISION_PROMPT, nl=False)
        line = sys.stdin.readline()
        key = line.strip().lower()
        if not line or key == "q":
            click.echo()
            return None
        if key in ("0", "1", "2", "3") or key in DECISION_KEYS:
            return DECISION_KEYS.get(key, key)
        if key == "s":
            return ""
        click.echo("expected a, k, 0, 1, 2, 3, s or q")
