"""karat judge: grade unjudged hits, by hand or with language models."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

from karat.cli.help import INPUTS, OUTPUT, TieredCommand, option
from karat.cli.options.experiment import repo_option
from karat.cli.options.shared import (
    COLUMNS,
    TOPICS,
    GoldPath,
    OutputPath,
    WholeNumber,
    check_together,
)
from karat.extensions.judges.options import MODEL, ModelOptions, model_options
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.app.pooling import PooledHit
    from karat.extensions.judges.by_hand import Judging
    from karat.extensions.judges.sources import Code
    from karat.model import Dataset, Run


# Queries of --next without a number.
NEXT = 10
# Options that mean nothing together, and options that mean nothing without another one.
EXCLUSIVE = {
    "repositories": ("corpus", "folder"),
    "corpus": ("folder",),
    "audit": ("decide", "agreement", "queries", "as_list", "judged", "probe"),
    "decide": ("models", "agreement", "queries", "as_list", "as_json"),
    "agreement": ("models", "queries", "as_list"),
    "models": ("queries", "as_list", "judge"),
}
NEEDED = dict.fromkeys(("audit", *(name for name in MODEL if name != "models")), "models")
# Groups of options in help.
GRADING, AUDIT = "Grade hits", "Audit the labels of a gold set"
PROMPT = "grade 0-3 and why, s skip, u undo, q quit: "


@click.command("judge", cls=TieredCommand)
@click.argument("goldset", type=GoldPath())
@click.argument("runs", nargs=-1, metavar="[RUN]...", type=click.Path(exists=True))
@option(
    "-k",
    "--depth",
    group=GRADING,
    common=True,
    default=10,
    show_default=True,
    metavar="K",
    help="Number of hits to judge per query and run (pool depth).",
)
@option(
    "-o",
    "--output",
    group=OUTPUT,
    common=True,
    type=OutputPath(),
    metavar="FILE",
    help="Save to FILE instead of GOLDSET; continue with FILE if it exists. With --audit, write "
    "the doubtful labels to FILE (.csv or .json).",
)
@option(
    "--judge", group=GRADING, metavar="NAME", help="Name of the judge; your user name by default."
)
@repo_option("Show code from this repository; NAME= for one of several.", common=True)
@option(
    "--rev",
    group=INPUTS,
    default="HEAD",
    show_default=True,
    metavar="REVISION",
    help="Revision for cases without a base commit.",
)
@option(
    "--corpus",
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Show the documents of this folder.",
)
@click.option("--folder", type=click.Path(exists=True, file_okay=False), hidden=True)
@option("--gold-format", group=INPUTS, metavar="FORMAT", help="Format of the gold set.")
@COLUMNS
@TOPICS
@option("--run-format", group=INPUTS, metavar="FORMAT", help="Format of the run files.")
@option(
    "--list",
    "as_list",
    group=GRADING,
    common=True,
    is_flag=True,
    help="List the unjudged hits and exit.",
)
@option(
    "--next",
    "queries",
    group=GRADING,
    common=True,
    type=WholeNumber(1),
    is_flag=False,
    flag_value=NEXT,
    metavar="[N]",
    help=f"Draw the next N queries, {NEXT} by default, so that the drawn queries are a stratified "
    "random sample; they are recorded in the gold set, for --human-sample auto.",
)
@option(
    "--agreement",
    group=GRADING,
    common=True,
    is_flag=True,
    help="Show how well labels of models agree with people, and exit; with --json as JSON.",
)
@option(
    "--json",
    "as_json",
    group=OUTPUT,
    is_flag=True,
    help="List them as JSON and exit; with --model, print the summary as JSON.",
)
@model_options
@option(
    "--audit",
    group=AUDIT,
    common=True,
    is_flag=True,
    help="Let --model check the labels of GOLDSET: grades, line ranges and missing targets. "
    "Doubtful ones are listed; nothing is changed.",
)
@option(
    "--decide",
    group=AUDIT,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Apply the decisions in FILE, which --audit wrote, and prompt for missing ones.",
)
def command(
    goldset: str,
    runs: tuple[str, ...],
    *,
    depth: int,
    output: str | None,
    judge: str | None,
    repositories: Mapping[str, str] | None,
    rev: str | None,
    corpus: str | None,
    folder: str | None,
    gold_format: str | None,
    columns: Mapping[str, str],
    topics: str | None,
    run_format: str | None,
    as_list: bool,
    queries: int | None,
    agreement: bool,
    as_json: bool,
    asking: ModelOptions,
    audit: bool,
    decide: str | None,
) -> None:
    """Grade the unjudged hits of each RUN from 0 (not relevant) to 3, by hand or with a model.

    Only --audit and --decide work without a RUN: they check labels that GOLDSET already has.

    Each hit is shown with its code, but without the name of the run. Each grade is saved at
    once, with the judge, the time and the text after the grade as its reason; the next call
    continues where this one stopped. Code is read from --repo at the base commit of the case,
    or from --corpus; by default from the repository that GOLDSET names, or the current folder.

    --next draws whole queries in random order, so that the judged queries are a random sample
    whenever you stop. karat score --human-sample auto then uses these human labels to correct
    model labels for all queries.

    With --model, language models grade the hits, each with a reason. Their labels are stored in
    the gold set, separate from its targets. Passages are sent to the provider of the model. With
    --audit, models check the labels of GOLDSET, and with a RUN also its unjudged hits; a person
    decides with --decide.

    \b
    karat judge gold.json bm25.jsonl dense.jsonl --repo ../project
    karat judge gold.json bm25.jsonl --model openai/gpt-4o-mini --max-cost 2
    karat judge code.csv bm25.jsonl -k 5 -o gold.json --corpus ../project
    karat judge qrels.txt bm25.run --topics topics.tsv -o gold.json
    karat judge gold.json bm25.jsonl --list
    karat judge gold.json bm25.jsonl dense.jsonl --next 20
    karat judge gold.json bm25.jsonl --model openai/gpt-4o-mini --dry-run
    karat judge gold.json bm25.jsonl --model http://localhost:8000/v1#qwen --price 0,0
    karat judge gold.json bm25.jsonl dense.jsonl --agreement
    karat judge gold.json bm25.jsonl --audit --model openai/gpt-4o-mini -o audit.csv
    karat judge gold.json --decide audit.csv
    """
    from karat.app.score import distinct_names
    from karat.extensions.judges.audit import AuditDecisions, read_audit
    from karat.extensions.judges.by_hand import Judging
    from karat.extensions.judges.by_model import pooled_hits
    from karat.extensions.judges.gold_file import begun, save_path
    from karat.extensions.judges.output import audit_labels, decide_rows, judge_with_models
    from karat.formats import read_run

    check_together(EXCLUSIVE, NEEDED)
    if not (runs or audit or decide):
        raise click.UsageError(
            "Missing argument 'RUN...': only --audit and --decide work without a run."
        )
    saved = None if audit else output
    data = begun(goldset, saved, format=gold_format, columns=columns, topics=topics)
    read = [read_run(run, format=run_format) for run in runs]
    named = dict(zip(distinct_names(runs), read, strict=True))
    if agreement:
        _show_agreement(data, named, as_json=as_json)
        return
    if as_list or (as_json and not asking.models):
        show = _show_json if as_json else _show_list
        show(data, _unjudged(data, named, depth, queries)[0])
        return
    with _source(data, repositories, rev, corpus or folder) as code:
        if audit:
            hits = pooled_hits(data, named, depth=depth, judged=True)
            audit_labels(data, hits, code, asking, goldset=goldset, path=output, as_json=as_json)
            return
        path = os.fspath(save_path(goldset, output, format=gold_format))
        if asking.models:
            hits = pooled_hits(data, named, depth=depth, judged=asking.judged)
            judge_with_models(data, path, hits, code, asking, as_json=as_json)
            return
        name = judge or _user()
        if decide:
            decide_rows(AuditDecisions(data, path, judge=name), read_audit(decide), decide, code)
            return
        judging = Judging(data, path, judge=name)
        items, sample = _unjudged(data, named, depth, queries)
        # Before the first grade: a query that nobody finishes stays in the sample.
        judging.record_sample(sample)
        _Session(judging, items, code).run()


def _unjudged(
    data: "Dataset", runs: "Mapping[str, Run]", depth: int, queries: int | None
) -> "tuple[Sequence[PooledHit], Sequence[str]]":
    """Return the unjudged hits, or those of the next *queries* and the sample with them."""
    from karat.app.human_sample import draw_next
    from karat.app.pooling import pool

    if queries is None:
        return pool(data, runs, depth=depth), ()
    return draw_next(data, runs, queries, depth=depth)


def _source(
    data: "Dataset", repositories: Mapping[str, str] | None, rev: str | None, folder: str | None
) -> "AbstractContextManager[Code]":
    from karat.extensions.judges.sources import folder_code, repository_code

    has_commits = any(extra.get("base_commit") for extra in data.extras)
    if folder or not (repositories or has_commits):
        return nullcontext(folder_code(folder or "."))
    return repository_code(data, repositories or {}, revision=rev)


def _user() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (ImportError, KeyError, OSError):  # one for each system and version of Python
        raise click.UsageError(
            "the name of the judge is unknown; give it with --judge NAME"
        ) from None


class _Session:
    """Goes through the pool, question by question."""

    def __init__(self, judging: "Judging", items: "Sequence[PooledHit]", code: "Code") -> None:
        self._judging = judging
        self._items = items
        self._code = code
        self._index = 0
        # The indexes that were answered, and whether by a grade.
        self._answered: list[tuple[int, bool]] = []

    def run(self) -> None:
        """Ask until the end of the pool or of the input; what was answered is saved by then."""
        try:
            while self._index < len(self._items):
                item = self._items[self._index]
                if not self._judging.is_open(item):
                    self._index += 1
                elif not self._ask(item):
                    break
        finally:
            self._sum_up()

    def _ask(self, item: "PooledHit") -> bool:
        """Show *item* and take answers until one of them moves on; say whether to go on."""
        self._show(item)
        while True:
            click.echo(PROMPT, nl=False)
            line = sys.stdin.readline()
            key, _, note = line.strip().partition(" ")
            if not line or key == "q":
                return False
            if self._take(item, key.lower(), note.strip()):
                return True

    def _take(self, item: "PooledHit", key: str, note: str) -> bool:
        """Run the action of *key*; return False if there is none."""
        if key in ("0", "1", "2", "3"):
            self._judging.grade(item, int(key), note)
        elif key == "u" and self._answered:
            self._index, graded = self._answered.pop()
            if graded:
                self._judging.undo()
            return True
        elif key != "s":
            click.echo("nothing to undo" if key == "u" else "expected 0, 1, 2, 3, s, u or q")
            return False
        self._answered.append((self._index, key != "s"))
        self._index += 1
        return True

    def _show(self, item: "PooledHit") -> None:
        from karat.corpus.chunkers.base import lines_of
        from karat.extensions.judges.sources import code_lines, target_text

        data, hit = self._judging.data, item.hit
        query = f"{data.query_ids[item.row]}: {data.texts[item.row]}"
        click.echo(f"\n[{self._index + 1} of {len(self._items)}] {printable(query)}")
        whole = "  (the whole file is graded)" if self._judging.is_whole_file(item) else ""
        click.echo(printable(target_text(hit)) + whole)
        content = self._code(item.row, hit.path)
        if content.reason:
            click.echo(printable(f"  (nothing to show: {content.reason})"))
        for line in code_lines(lines_of(content.text), hit.start_line, hit.end_line):
            click.echo(f"  {line}")

    def _sum_up(self) -> None:
        graded = sum(is_graded for _, is_graded in self._answered)
        left = sum(map(self._judging.is_open, self._items))
        saved = f", saved in {os.fspath(self._judging.path)}" if graded else ""
        click.echo(f"\n{graded:,} judged, {left:,} left{printable(saved)}")


def _show_list(data: "Dataset", items: "Sequence[PooledHit]") -> None:
    from karat.extensions.judges.sources import target_text

    for item in items:
        ranks = ", ".join(f"{run} {rank}" for run, rank in item.ranks.items())
        click.echo(printable(f"{data.query_ids[item.row]}  {target_text(item.hit)}  ({ranks})"))
    queries = len({item.row for item in items})
    click.echo(f"{len(items):,} hits of {queries:,} queries are unjudged", err=True)


def _show_agreement(data: "Dataset", runs: "Mapping[str, Run]", *, as_json: bool) -> None:
    from karat.cli.output.show import put_json, put_table
    from karat.extensions.judges.agreement import compare_judges
    from karat.extensions.judges.agreement_view import agreement_plain, agreement_tables

    report = compare_judges(data, runs)
    if as_json:
        put_json(agreement_plain(report))
        return
    for number, table in enumerate(agreement_tables(report)):
        if number:
            click.echo()
        put_table(table)


def _show_json(data: "Dataset", items: "Sequence[PooledHit]") -> None:
    import json

    keys = ("path", "start_line", "end_line", "symbol")
    value = [
        {
            "query_id": data.query_ids[item.row],
            "query": data.texts[item.row],
            **{key: getattr(item.hit, key) for key in keys},
            "ranks": dict(item.ranks),
        }
        for item in items
    ]
    click.echo(json.dumps({"unjudged": value}, indent=2, ensure_ascii=False))
