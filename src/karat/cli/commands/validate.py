"""karat validate: what a file is, and what is wrong with it."""

from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import clones_option, repo_option
from karat.cli.options.shared import COLUMNS, GoldPath
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.app.validate import Validation


INVALID = 2
VALUES_SHOWN = 8
# What the entries of a file are, by its kind.
ENTRIES = {"dataset": "target", "run": "hit", "scores": "system"}


@click.command("validate")
@click.argument("file", type=GoldPath())
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of the file, if it cannot be detected."
)
@COLUMNS
@click.option(
    "--corpus",
    type=click.Path(exists=True),
    metavar="FOLDER",
    help="Check that every target is a document in this folder.",
)
@repo_option(
    "Look up every path, line range and symbol in this repository; without DIR, in the "
    "one that FILE was mined from. NAME= for one of several.",
    is_flag=False,
    flag_value="",
)
@clones_option
@click.option(
    "--rev",
    default="HEAD",
    show_default=True,
    metavar="REVISION",
    help="Revision for cases without a base commit.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    format_name: str | None,
    *,
    columns: "Mapping[str, str]",
    corpus: str | None,
    repositories: "Mapping[str, str] | None",
    clones: str | None,
    rev: str | None,
    as_json: bool,
) -> None:
    """Check FILE, show what it contains, and list every problem with its line.

    FILE is a gold set, a run, or scores of another evaluation.

    With --corpus, also list targets that are not in a folder; with --repo, paths, lines and
    symbols that are not in a Git repository. The exit code is 0 if FILE is valid, otherwise 2.

    \b
    karat validate code.csv
    karat validate questions.csv --corpus docs
    karat validate code.csv --repo ../project --rev v2.0
    karat validate swe-bench.jsonl --repos ../clones
    karat validate bm25.run --format trec-run --json
    """
    from karat.app.validate import validate

    if corpus is not None and (clones or repositories is not None):
        option = "--repos" if clones else "--repo"
        raise click.UsageError(f"--corpus and {option} both look up targets; give one of them.")
    validation = validate(
        file,
        format=format_name,
        columns=columns,
        repositories=repositories,
        clones=clones,
        revision=rev,
        corpus=corpus,
    )
    if as_json:
        click.echo(_json(validation))
    else:
        for line in _lines(validation):
            click.echo(line)
        for problem in validation.problems:
            click.echo(printable(str(problem)), err=True)
    if not validation.valid:
        ctx.exit(INVALID)


def _lines(validation: "Validation") -> list[str]:
    """Return the summary, one fact per line."""
    entry = ENTRIES[validation.kind]
    form = "" if validation.kind == "scores" else f", format {validation.format}"
    lines = [f"{printable(validation.path)}: {validation.kind}{form}"]
    if not validation.valid:
        count = len(validation.problems)
        lines.append(f"  not valid: {count:,} problem{'s' if count > 1 else ''}")
    if not validation.queries:
        return lines
    evidence = (
        f", {counted(validation.evidence, 'symbol')} as evidence" if validation.evidence else ""
    )
    numbers = f"{counted(validation.queries, 'query')}, {counted(validation.entries, entry)}"
    lines.append(f"  {numbers}{evidence}")
    lines += _lookup_lines(validation)
    if validation.match:
        lines.append(f"  match: {validation.match}")
    if validation.grades:
        lines.append("  grades: " + _counts(validation.grades))
    if validation.unjudged:
        lines.append(f"  queries without a relevant target (not scored): {validation.unjudged:,}")
    if validation.detects:
        lines.append(f"  {validation.detects}")
    if validation.outcomes:
        lines.append("  outcomes: " + _counts(validation.outcomes))
    lines.extend(f"  note: {printable(note)}" for note in validation.notes)
    lines.extend(f"  tag {printable(tag)}: {_counts(v)}" for tag, v in validation.tags.items())
    return lines


def _lookup_lines(validation: "Validation") -> list[str]:
    """Return which targets exist in the repository, if that was checked."""
    lines = []
    if validation.checked:
        lines.append("  looked up: " + _counts(validation.checked))
    if validation.missing:
        lines.append("  missing: " + _counts(validation.missing))
    if validation.unchecked:
        lines.append(f"  document ids and hashes, not looked up: {validation.unchecked:,}")
    if validation.kind == "dataset" and not (lines or validation.problems):
        lines.append(
            "  targets not looked up; --corpus FOLDER checks a folder, --repo DIR a Git repository"
        )
    return lines


def _counts(counts: "Mapping[str, int]") -> str:
    """Return ``hard (27), standard (100)``; of many values the first few, the rest counted."""
    values = list(counts.items())[:VALUES_SHOWN]
    texts = [f"{printable(value)} ({count:,})" for value, count in values]
    hidden = len(counts) - len(texts)
    return ", ".join(texts) + (f" and {hidden:,} more" if hidden else "")


def _json(validation: "Validation") -> str:
    import json

    value = {
        "path": validation.path,
        "format": validation.format,
        "kind": validation.kind,
        "valid": validation.valid,
        "queries": validation.queries,
        f"{ENTRIES[validation.kind]}s": validation.entries,
        "evidence": validation.evidence,
        "unjudged": validation.unjudged,
        "match": validation.match or None,
        "grades": dict(validation.grades),
        "tags": {tag: dict(values) for tag, values in validation.tags.items()},
        "outcomes": dict(validation.outcomes),
        "checked": dict(validation.checked),
        "missing": dict(validation.missing),
        "unchecked": validation.unchecked,
        "detects": validation.detects.to_json() if validation.detects else None,
        "notes": list(validation.notes),
        "problems": [problem._asdict() for problem in validation.problems],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)
