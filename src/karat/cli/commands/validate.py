"""karat validate: what a file is, and what is wrong with it."""

from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import clones_option, repo_option
from karat.cli.options.shared import COLUMNS, GoldPath
from karat.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.app.validate import Validation


INVALID = 2
VALUES_SHOWN = 8


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
    found = validate(
        file,
        format=format_name,
        columns=columns,
        repositories=repositories,
        clones=clones,
        revision=rev,
        corpus=corpus,
    )
    if as_json:
        click.echo(_json(found))
    else:
        for line in _lines(found):
            click.echo(line)
        for problem in found.problems:
            click.echo(printable(str(problem)), err=True)
    if not found.valid:
        ctx.exit(INVALID)


def _lines(found: "Validation") -> list[str]:
    """Return the summary, one fact per line."""
    entries = "targets" if found.kind == "dataset" else "hits"
    lines = [f"{printable(found.path)}: {found.kind}, format {found.format}"]
    if not found.valid:
        count = len(found.problems)
        lines.append(f"  not valid: {count:,} problem{'s' if count > 1 else ''}")
    if not found.queries:
        return lines
    evidence = f", {found.evidence:,} symbols as evidence" if found.evidence else ""
    lines.append(f"  {found.queries:,} queries, {found.entries:,} {entries}{evidence}")
    lines += _lookup(found)
    if found.match:
        lines.append(f"  match: {found.match}")
    if found.grades:
        lines.append("  grades: " + _counts(found.grades))
    if found.unjudged:
        lines.append(f"  queries without a relevant target (not scored): {found.unjudged:,}")
    if found.detects:
        lines.append(f"  {found.detects}")
    if found.outcomes:
        lines.append("  outcomes: " + _counts(found.outcomes))
    lines.extend(f"  note: {printable(note)}" for note in found.notes)
    lines.extend(f"  tag {printable(tag)}: {_counts(v)}" for tag, v in found.tags.items())
    return lines


def _lookup(found: "Validation") -> list[str]:
    """Return which targets exist in the repository, if that was checked."""
    lines = []
    if found.checked:
        lines.append("  looked up: " + _counts(found.checked))
    if found.missing:
        lines.append("  missing: " + _counts(found.missing))
    if found.unchecked:
        lines.append(f"  document ids and hashes, not looked up: {found.unchecked:,}")
    if found.kind == "dataset" and not (lines or found.problems):
        lines.append(
            "  targets not looked up; --corpus FOLDER checks a folder, --repo DIR a Git repository"
        )
    return lines


def _counts(counts: "Mapping[str, int]") -> str:
    """Return ``hard (27), standard (100)``; of many values the first few, the rest counted."""
    values = list(counts.items())[:VALUES_SHOWN]
    shown = [f"{printable(value)} ({count:,})" for value, count in values]
    hidden = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {hidden:,} more" if hidden else "")


def _json(found: "Validation") -> str:
    import json

    value = {
        "path": found.path,
        "format": found.format,
        "kind": found.kind,
        "valid": found.valid,
        "queries": found.queries,
        "targets" if found.kind == "dataset" else "hits": found.entries,
        "evidence": found.evidence,
        "unjudged": found.unjudged,
        "match": found.match or None,
        "grades": dict(found.grades),
        "tags": {tag: dict(values) for tag, values in found.tags.items()},
        "outcomes": dict(found.outcomes),
        "checked": dict(found.checked),
        "missing": dict(found.missing),
        "unchecked": found.unchecked,
        "detects": found.detects.to_json() if found.detects else None,
        "notes": list(found.notes),
        "problems": [problem._asdict() for problem in found.problems],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)
