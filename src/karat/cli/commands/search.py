"""karat search: search a folder or a Git revision."""

import sys
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import WholeNumber, open_corpus, place_options

if TYPE_CHECKING:
    from karat.app.corpora import FileSelection
    from karat.app.search import EngineLike, SearchResult


LINE_WIDTH = 100
STEPS = {
    "names": "names in the query: word score x",
    "kind": "kind of file: score x",
}


@click.command("search")
@click.argument("query")
@place_options
@click.option(
    "-k", default=10, show_default=True, type=WholeNumber(1), metavar="N", help="Hits to show."
)
@click.option("--explain", is_flag=True, help="Explain each score.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    query: str,
    place: str,
    *,
    rev: str | None,
    files: "FileSelection",
    engine: "EngineLike",
    k: int,
    explain: bool,
    as_json: bool,
) -> None:
    """Search PLACE, a folder or a repository, for QUERY.

    \b
    karat search "where are ties broken"
    karat search "parse the config" ../project --profile balanced --explain
    karat search "retry with backoff" ../project.git --rev v2.0 -k 3 --json
    karat search "install a plug-in" ../project --kind docs --exclude CHANGELOG.md
    """
    from karat.app.search import search
    from karat.cli.output.progress import progress_bar

    corpus = open_corpus(place, revision=rev, files=files)
    with progress_bar("embedding") as progress:
        found = search(query, corpus, engine, k=k, progress=progress)
    if as_json:
        _show_json(found)
    else:
        _show(found, query, explain=explain)


def _show(found: "SearchResult", query: str, *, explain: bool) -> None:
    from karat.app.corpora import page_of_hit
    from karat.app.search import telling_line
    from karat.report.display import printable, shorten
    from karat.system.words import counted

    terminal = sys.stdout.isatty()
    for rank, (hit, stages, ranking) in enumerate(found.hits, 1):
        lines = f":{hit.start_line}-{hit.end_line}" if hit.end_line else ""
        page = page_of_hit(found.corpus, hit)
        lines += f" (page {page})" if page else ""
        symbol = f"  {hit.symbol}" if hit.symbol else ""
        click.echo(printable(f"{rank:3}. {hit.path}{lines}  {hit.score:.3f}{symbol}"))
        if terminal:
            line = shorten(printable(telling_line(found.corpus, hit, query)), LINE_WIDTH)
            click.secho(f"       {line}", dim=True)
        if explain:
            for stage, score in stages.items():
                click.echo(f"       {stage} {score:.3f}")
            for step, value in ranking.items():
                click.echo(f"       {printable(STEPS.get(step, step))} {value:.3f}")
    if explain and found.hits and not any(entry.stages for entry in found.hits):
        click.echo(printable(f"{found.engine} does not explain its scores"), err=True)
    hits, documents = counted(len(found.hits), "hit"), counted(len(found.corpus), "document")
    summary = (
        f"{hits} by {found.engine} in {documents} of {found.corpus.name}; indexed in "
        f"{found.index_ns / 1e9:.2f} s, searched in {found.search_ns / 1e6:.1f} ms"
    )
    click.echo(printable(summary), err=True)
    if hint := _hint(found, query):
        click.echo(printable(hint), err=True)


def _hint(found: "SearchResult", query: str) -> str:
    """Return why there can be no hits, if that is so."""
    if not query.strip():
        return "the query is empty"
    if not len(found.corpus):
        left_out = ", ".join(f"{count:,} {why}" for why, count in found.corpus.skipped.items())
        return f"the corpus has no text; skipped files: {left_out or 'none'}"
    return ""


def _show_json(found: "SearchResult") -> None:
    import json

    from karat.app.corpora import page_of_hit, skipped_as_json
    from karat.report.json import plain

    hits = [
        {
            **hit._asdict(),
            "page": page_of_hit(found.corpus, hit) or None,
            "stages": dict(stages),
            "ranking": dict(ranking),
        }
        for hit, stages, ranking in found.hits
    ]
    value = {
        "engine": found.engine,
        "snapshot": found.corpus.snapshot,
        **skipped_as_json(found.corpus),
        "index_ns": found.index_ns,
        "search_ns": found.search_ns,
        "hits": hits,
    }
    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))
