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
        index = index_ahead(corpus, engine, progress=progress)
    if as_json:
        _show_json(index)
    else:
        _show(index)


def _show(index: "IndexResult") -> None:
    from karat.report.display import printable

    work = index.work
    rows = [
        ("corpus", f"{index.corpus.name}, snapshot {index.corpus.snapshot[:12]}"),
        ("documents", f"{len(index.corpus):,}: {_counts(index.languages)}"),
        ("skipped", _counts(index.corpus.skipped)),
        ("chunks", f"{index.chunks:,}"),
        ("fallback", _counts(index.fallbacks)),
        ("embedded", _embedded(work)),
        ("reused", f"{work['reused']:,} vectors" if "reused" in work else ""),
        ("contexts", _contexts(work)),
        (
            "recall",
            f"{index.recall:.3f} of the nearest neighbours" if index.recall is not None else "",
        ),
        ("time", f"{index.index_ns / 1e9:.2f} s by {index.engine}"),
        ("cache", f"{index.cache_folder}, {index.cache_bytes / 1e6:.1f} MB"),
        ("not cached", index.cache_problem),
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


def _show_json(index: "IndexResult") -> None:
    import json

    from karat.app.corpora import skipped_as_json
    from karat.report.json import plain

    value = {
        "engine": index.engine,
        "corpus": index.corpus.name,
        "snapshot": index.corpus.snapshot,
        "documents": len(index.corpus),
        "languages": dict(index.languages),
        **skipped_as_json(index.corpus),
        "notes": dict(index.corpus.notes),
        "chunks": index.chunks,
        "fallbacks": dict(index.fallbacks),
        "work": dict(index.work),
        "index_ns": index.index_ns,
        "recall": index.recall,
        "cache": {
            "folder": str(index.cache_folder),
            "bytes": index.cache_bytes,
            "problem": index.cache_problem or None,
        },
    }
    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))
