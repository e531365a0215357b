"""karat index: prepare a folder or a Git revision for quick searches."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import open_corpus, place_options
from karat.cli.options.stray import stray

if TYPE_CHECKING:
    from karat.app.corpora import FileSelection
    from karat.app.search import EngineLike, IndexResult


@click.command("index")
@place_options
@stray({"--engine": "the engine"})
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    place: str, rev: str | None, files: "FileSelection", engine: "EngineLike", *, as_json: bool
) -> None:
    """Build the index of PLACE, a folder or a repository, before searching it.

    Chunks and embeddings are cached by content in ~/.cache/karat, or in KARAT_CACHE, so that
    only changed files are processed again.

    \b
    karat index . --profile balanced
    karat index ../project.git --rev v2.0 --engine "dense(model=granite)" --json
    """
    from karat.app.search import index_ahead
    from karat.cli.output.progress import progress_bar

    corpus = open_corpus(place, revision=rev, files=files)
    with progress_bar("embedding") as progress:
        found = index_ahead(corpus, engine, progress=progress)
    if as_json:
        _show_json(found)
    else:
        _show(found)


def _show(found: "IndexResult") -> None:
    from karat.report.display import printable

    work = found.work
    rows = [
        ("corpus", f"{found.corpus.name}, snapshot {found.corpus.snapshot[:12]}"),
        ("documents", f"{len(found.corpus):,}: {_counts(found.languages)}"),
        ("skipped", _counts(found.corpus.skipped)),
        ("chunks", f"{found.chunks:,}"),
        ("fallback", _counts(found.fallbacks)),
        ("embedded", _embedded(work)),
        ("reused", f"{work['reused']:,} vectors" if "reused" in work else ""),
        ("contexts", _contexts(work)),
        (
            "recall",
            f"{found.recall:.3f} of the nearest neighbours" if found.recall is not None else "",
        ),
        ("time", f"{found.index_ns / 1e9:.2f} s by {found.engine}"),
        ("cache", f"{found.cache_folder}, {found.cache_bytes / 1e6:.1f} MB"),
        ("not cached", found.cache_problem),
    ]
    for label, value in rows:
        if value:
            click.echo(printable(f"{label:13} {value}"))


def _embedded(work: Mapping[str, float]) -> str:
    if "embedded" not in work:
        return ""
    tokens = f"; {work['embedding_tokens']:,} tokens" if "embedding_tokens" in work else ""
    cost = f", cost {work['embedding_cost']:.6g}" if "embedding_cost" in work else ""
    return f"{work['embedded']:,} texts{tokens}{cost}"


def _contexts(work: Mapping[str, float]) -> str:
    if "contexts" not in work:
        return ""
    written, reused = work["contexts"], work["contexts_reused"]
    tokens, cost = work["context_tokens"], work["context_cost"]
    return f"{written:,} written, {reused:,} reused; {tokens:,} tokens, ${cost:.4f}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name or 'other'}" for name, count in counts.items())


def _show_json(found: "IndexResult") -> None:
    import json

    from karat.app.corpora import skipped_as_json
    from karat.report.json import plain

    value = {
        "engine": found.engine,
        "corpus": found.corpus.name,
        "snapshot": found.corpus.snapshot,
        "documents": len(found.corpus),
        "languages": dict(found.languages),
        **skipped_as_json(found.corpus),
        "notes": dict(found.corpus.notes),
        "chunks": found.chunks,
        "fallbacks": dict(found.fallbacks),
        "work": dict(found.work),
        "index_ns": found.index_ns,
        "recall": found.recall,
        "cache": {
            "folder": str(found.cache_folder),
            "bytes": found.cache_bytes,
            "problem": found.cache_problem or None,
        },
    }
    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))
