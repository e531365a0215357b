"""karat resolve: which documents of a corpus the references of a gold set mean."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.scoring import match_option
from karat.cli.options.shared import COLUMNS, GoldPath, OutputPath, file_options, open_corpus
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.app.corpora import Corpus, FileSelection
    from karat.app.resolve import ResolveResult, UnresolvedReference


LOST = 1
SHOWN = 20


@click.command("resolve")
@click.argument("dataset", type=GoldPath())
@click.argument("corpus", type=click.Path(exists=True))
@click.option("--rev", metavar="REVISION", help="Read CORPUS at this Git revision.")
@file_options
@match_option
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="Write the gold set with resolved paths.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--strict", is_flag=True, help="Exit with code 1 if a reference cannot be resolved.")
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of the file, if it cannot be detected."
)
@COLUMNS
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all unresolved references.")
@click.pass_context
def command(
    ctx: click.Context,
    dataset: str,
    corpus: str,
    *,
    rev: str | None,
    files: "FileSelection",
    match: str | None,
    output: str | None,
    format_name: str | None,
    columns: "Mapping[str, str]",
    force: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Map the references of DATASET to documents of CORPUS: a folder, a repository or BEIR.

    A reference is a document id, a uri, a content hash, a path, a file name or a quote.
    References that match no document, or several, are listed with the reason; -o writes them
    too, and they count as missed.

    \b
    karat resolve questions.json ../docs
    karat resolve questions.json ../project --rev v2.0 -o resolved.json
    """
    from karat.app.convert import refuse_overwriting, write_like
    from karat.app.resolve import resolve
    from karat.formats import FORMATS, detect, read_dataset

    if output is not None:
        refuse_overwriting(Path(dataset), Path(output), force=force)
    named = format_name or ("csv" if columns else None)
    chosen = FORMATS.get(named) if named else detect(dataset, kind="dataset")
    gold = read_dataset(dataset, format=chosen.name, columns=columns)
    opened = open_corpus(corpus, revision=rev, files=files)
    resolution = resolve(gold, opened, match=match)
    if output is not None:
        write_like(resolution.dataset, output, chosen, force=force)
    if as_json:
        _show_json(resolution, opened, output)
    else:
        _show(resolution, dataset, output)
    if strict and resolution.unresolved:
        ctx.exit(LOST)


def _show(resolution: "ResolveResult", dataset: str, output: str | None) -> None:
    click.echo(
        f"{printable(dataset)}: {resolution.mapped_count:,} of "
        f"{counted(resolution.total_count, 'reference')} found"
    )
    for reason, count in Counter(lost.reason for lost in resolution.unresolved).most_common():
        click.echo(f"  {reason}: {count:,}")
    if resolution.ambiguous:
        click.echo(
            f"  found in several places, all of them accepted: {len(resolution.ambiguous):,}"
        )
    if resolution.whole:
        click.echo(
            f"  quotes not in their document, which is the target: {len(resolution.whole):,}"
        )
    click.echo(f"  written: {printable(output) if output else 'nothing (-o FILE)'}")
    listed = [*resolution.unresolved, *resolution.ambiguous, *resolution.whole]
    for lost in listed[:SHOWN]:
        click.echo(printable(_line(lost)), err=True)
    if len(listed) > SHOWN:
        click.echo(f"... and {len(listed) - SHOWN:,} more (--json lists all)", err=True)


def _line(lost: "UnresolvedReference") -> str:
    kind, name = next(iter(lost.doc_ref.items()))
    which = f": {', '.join(lost.candidates)}" if lost.candidates else ""
    if lost.reason == "skipped":
        which = f": {lost.candidates[0]} exists but was skipped ({lost.detail})"
    elif lost.detail:
        which += f"; {lost.detail}"
    return f"{lost.reason}: query {lost.query_id!r}: {kind} {name!r}{which}"


def _show_json(resolution: "ResolveResult", corpus: "Corpus", output: str | None) -> None:
    from karat.app.corpora import skipped_as_json
    from karat.formats.jsontext import dumps

    value = {
        "status": resolution.status,
        "mapped_count": resolution.mapped_count,
        "total_count": resolution.total_count,
        "unresolved": [lost._asdict() for lost in resolution.unresolved],
        "ambiguous": [lost._asdict() for lost in resolution.ambiguous],
        "whole": [lost._asdict() for lost in resolution.whole],
        **skipped_as_json(corpus),
        "written": output,
    }
    click.echo(dumps(value))
