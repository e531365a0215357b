"""Search a folder or a Git revision with any engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

from karat.corpus import Corpus, GitRepository
from karat.engines.base import (
    Engine,
    Explained,
    Progress,
    SupportsClose,
    SupportsExplain,
    SupportsProgress,
)
from karat.engines.lexical.tokens import TokenRules
from karat.engines.spec import build
from karat.errors import InputError
from karat.model import Hit
from karat.model.spec import Spec
from karat.runner.sources import Opener, Source

__all__ = [
    "EngineLike",
    "Found",
    "corpus_source",
    "engine_of",
    "load_corpus",
    "search",
    "telling_line",
]

EngineLike = Engine | Spec | str | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one query, and how long indexing and searching took."""

    engine: str
    corpus: Corpus
    hits: Sequence[Explained]
    index_ns: int
    search_ns: int


def load_corpus(place: str, *, revision: str | None = None) -> Corpus:
    """Return the documents of :func:`corpus_source`."""
    return Opener().open(corpus_source(place, revision=revision))


def corpus_source(place: str, *, revision: str | None = None) -> Source:
    """Return the folder at *place*, or what Git held there at *revision*.

    A folder of a work tree gives that folder of the revision, with paths from there. A bare
    repository without a revision gives HEAD, and the name of the corpus says so. Of a BEIR folder,
    the documents of its corpus.
    """
    folder = Path(place)
    if folder.is_file():
        raise InputError(f"{place} is a file; expected a folder or a repository")
    if not folder.is_dir():
        raise InputError(f"{place}: no such folder")
    if revision is None and is_bare(folder):
        revision = "HEAD"
    if revision is not None:
        with GitRepository(place) as repository:
            below = repository.folder()
        return Source.git(place, f"{revision}:{below}" if below else revision)
    if any(folder.glob("corpus.jsonl*")) and any(folder.glob("queries.jsonl*")):
        return Source.beir(place)
    return Source.folder(place)


def is_bare(folder: Path) -> bool:
    """Return whether *folder* is what Git keeps for itself: a bare repository or a ``.git``."""
    return (
        (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    )


def engine_of(engine: EngineLike) -> Engine:
    """Return the engine that is described."""
    return build(engine) if isinstance(engine, Spec | str | Mapping) else engine


def search(
    query: str,
    corpus: Corpus,
    engine: EngineLike,
    *,
    k: int = 10,
    progress: Progress | None = None,
) -> Found:
    """Return the best *k* hits for *query*; *progress* is told how far indexing is."""
    engine = engine_of(engine)
    if isinstance(engine, SupportsProgress):
        engine.watch(progress)
    try:
        start = perf_counter_ns()
        engine.index(corpus)
        indexed = perf_counter_ns()
        if isinstance(engine, SupportsExplain):
            hits = engine.explain(query, k)
        else:
            hits = [Explained(hit, {}) for hit in engine.search(query, k)]
        return Found(engine.name, corpus, hits, indexed - start, perf_counter_ns() - indexed)
    finally:
        if isinstance(engine, SupportsClose):
            engine.close()


def telling_line(corpus: Corpus, hit: Hit, query: str) -> str:
    r"""Return the line of *hit* with most words of *query*, of several the first.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"a.py": "import os\n\ndef login(user):\n    return user\n"})
    >>> telling_line(corpus, Hit("a.py", 1.0), "where does a user log in, login?")
    'def login(user):'
    """
    terms = TokenRules().terms
    words = set(terms(query))
    lines = corpus.read(hit.path).split("\n")
    shown = lines[hit.start_line - 1 : hit.end_line] if hit.start_line else lines
    filled = [line.strip() for line in shown if line.strip()]
    return max(filled, key=lambda line: len(words.intersection(terms(line))), default="")
