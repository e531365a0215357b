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
        result = search(query, corpus, engine, k=k, progress=progress)
    if as_json:
        _show_json(result)
    else:
        _show(result, query, explain=explain)


def _show(result: "SearchResult", query: str, *, explain: bool) -> None:
    from karat.app.corpora import page_of_hit
    from karat.app.search import telling_line
    from karat.report.display import printable, shorten
    from karat.system.words import counted, range_text

    terminal = sys.stdout.isatty()
    for rank, (hit, stages, ranking) in enumerate(result.hits, 1):
        lines = range_text(hit.path, hit.start_line, hit.end_line)
        page = page_of_hit(result.corpus, hit)
        lines += f" (page {page})" if page else ""
        symbol = f"  {hit.symbol}" if hit.symbol else ""
        click.echo(printable(f"{rank:3}. {lines}  {hit.score:.3f}{symbol}"))
        if terminal:
            line = shorten(printable(telling_line(result.corpus, hit, query)), LINE_WIDTH)
            click.secho(f"       {line}", dim=True)
        if explain:
            for stage, score in stages.items():
                click.echo(f"       {stage} {score:.3f}")
            for step, value in ranking.items():
                click.echo(f"       {printable(STEPS.get(step, step))} {value:.3f}")
    if explain and result.hits and not any(entry.stages for entry in result.hits):
        click.echo(printable(f"{result.engine} does not explain its scores"), err=True)
    hits, documents = counted(len(result.hits), "hit"), counted(len(result.corpus), "document")
    summary = (
        f"{hits} by {result.engine} in {documents} of {result.corpus.name}; indexed in "
        f"{result.index_ns / 1e9:.2f} s, searched in {result.search_ns / 1e6:.1f} ms"
    )
    click.echo(printable(summary), err=True)
    if hint := _hint(result, query):
        click.echo(printable(hint), err=True)


def _hint(result: "SearchResult", query: str) -> str:
    """Return why there can be no hits, if that is so."""
    if not query.strip():
        return "the query is empty"
    if not len(result.corpus):
        left_out = ", ".join(f"{count:,} {why}" for why, count in result.corpus.skipped.items())
        return f"the corpus has no text; skipped files: {left_out or 'none'}"
    return ""


def _show_json(result: "SearchResult") -> None:
    import json

    from karat.app.corpora import page_of_hit, skipped_as_json
    from karat.report.json import plain

    hits = [
        {
            **hit._asdict(),
            "page": page_of_hit(result.corpus, hit) or None,
            "stages": dict(stages),
            "ranking": dict(ranking),
        }
        for hit, stages, ranking in result.hits
    ]
    value = {
        "engine": result.engine,
        "snapshot": result.corpus.snapshot,
        **skipped_as_json(result.corpus),
        "index_ns": result.index_ns,
        "search_ns": result.search_ns,
        "hits": hits,
    }
    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))
