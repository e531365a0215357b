"""Collections: documents that a service may search, where they lie and what their index holds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from karat.app.analyze.health import index_health
from karat.app.search import index_ahead
from karat.corpus import CHUNKERS, Corpus, chunk_corpus, create_chunker
from karat.corpus.git.process import git
from karat.engines.base import Progress
from karat.engines.caches import user_caches
from karat.engines.embedding.catalogue import PACKAGED, missing_modules
from karat.engines.registry import modes as search_modes
from karat.errors import Conflict, InputError, UnknownName
from karat.experiments.matrix import Matrix
from karat.experiments.workers.sources import load_corpus
from karat.installation import install_hint, without_checkout
from karat.model.call import parse_call
from karat.model.spec import Spec
from karat.service.store.records import Collection, Document

__all__ = [
    "AllowedFolders",
    "IndexedCollection",
    "allowed_folder",
    "check_cutting",
    "check_model",
    "collection_corpus",
    "collection_place",
    "collection_spec",
    "commit_of",
    "health_of",
    "index_collection",
    "model_installs",
    "not_indexed",
    "pinned_commit",
    "source_now",
]

HEAD = "HEAD"
FIELDS = ("id", "committed_at", "subject")


def commit_of(folder: Path, revision: str | None = None) -> dict[str, str] | None:
    """Return the id, the time and the subject of *revision*; None where Git knows no such thing.

    Without a revision it is the commit that is checked out, if the folder is in it: whatever was
    changed there and not committed is not told.
    """
    try:
        if revision is None:
            git(str(folder), "rev-parse", "--verify", "--quiet", f"{HEAD}:./")
        # Unlike git log, it does what it is told and not what a repository is set to.
        told = git(
            str(folder),
            "rev-list",
            "--max-count=1",
            "--format=%H%x00%cI%x00%s",
            "--end-of-options",
            revision or HEAD,
        )
    except InputError:
        return None
    _, _, line = told.decode(errors="replace").partition("\n")
    return dict(zip(FIELDS, line.rstrip("\n").split("\0"), strict=True))


UPLOAD = "upload"
NEEDS_SPARSE = (
    "collection {name!r} has no sparse index, which the modes sparse and hybrid need; make a "
    "collection with one"
)
NEEDS_DENSE = "collection {name!r} has no dense index, which the modes dense and hybrid need"


class AllowedFolders(NamedTuple):
    """Where documents may lie: below one of *roots*, or unpacked below *uploads*."""

    roots: Sequence[Path]
    uploads: Path


class SourceFolder(NamedTuple):
    """A folder or a repository on disk; *revision* belongs to the latter."""

    path: Path
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class IndexedCollection:
    """What indexing has found; *facts* is as JSON can hold it."""

    snapshot: str
    documents: tuple[Document, ...]
    facts: Mapping[str, object]


def allowed_folder(path: str, roots: Sequence[Path]) -> Path:
    """Return the real folder that *path* means, if it is one of *roots* or below one.

    Links are followed first, so that none leads out. Whether something outside exists is not told.
    """
    given = Path(path)
    try:
        real = given.resolve()
        inside = any(real.is_relative_to(root.resolve()) for root in roots)
        allowed = given.is_absolute() and inside and real.is_dir()
    except (OSError, RuntimeError):  # A name that is too long, or links in a circle.
        allowed = False
    if not allowed:
        shown = ", ".join(map(str, roots)) or "the service was started without --root"
        raise InputError(f"{path!r} is not a folder at or below an allowed --root ({shown})")
    return real


def pinned_commit(folder: Path, revision: str) -> str:
    """Return the commit that *revision* is now: a branch moves on, what is searched must not."""
    try:
        found = git(
            str(folder), "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"
        )
    except InputError as error:
        raise InputError(
            f"{str(folder)!r} has no revision {revision!r}; expected a commit, a tag or a branch "
            "of a Git repository"
        ) from error
    return found.decode().strip()


def source_now(collection: Collection, roots: Sequence[Path]) -> dict[str, object]:
    """Return the source of *collection* with the commit that its revision is by now."""
    source = dict(collection.source)
    if asked := source.get("asked"):
        folder = allowed_folder(str(source["path"]), roots)
        source["revision"] = pinned_commit(folder, str(asked))
    return source


def collection_place(collection: Collection, places: AllowedFolders) -> SourceFolder:
    """Return where the documents of *collection* lie."""
    source = collection.source
    if source["kind"] == UPLOAD:
        return SourceFolder(places.uploads / collection.id)
    revision = source.get("revision")
    folder = allowed_folder(str(source["path"]), places.roots)
    return SourceFolder(folder, None if revision is None else str(revision))


def collection_corpus(collection: Collection, places: AllowedFolders) -> Corpus:
    """Return the documents of *collection* as they are now.

    Conflict where they are no longer those that were indexed.
    """
    place = collection_place(collection, places)
    corpus = load_corpus(str(place.path), revision=place.revision)
    if collection.snapshot and corpus.snapshot != collection.snapshot:
        raise Conflict(
            f"the documents of collection {collection.name!r} have changed since they were "
            "indexed; index it once more"
        )
    return corpus


def collection_spec(
    collection: Collection, mode: str, *, use_reranker: bool = False, top_k: int = 10
) -> Spec:
    """Return the engine of *mode* on *collection*, as a benchmark would run it."""
    check_modes(collection, [mode])
    matrix = Matrix(
        search_modes=(mode,),
        use_reranker=(use_reranker,),
        top_k_values=(top_k,),
        chunkers=(str(collection.index["chunker"]),),
        models=(str(collection.index["model"]),),
    )
    (entry,) = matrix.configurations()
    return entry.spec


def check_modes(collection: Collection, modes: Sequence[str]) -> None:
    """Raise InputError for a mode whose index *collection* does not have."""
    by_mode = search_modes()
    needed = {part for mode in modes for part in by_mode[mode].components}
    if "lexical" in needed and not collection.index["sparse"]:
        raise InputError(NEEDS_SPARSE.format(name=collection.name))
    if "dense" in needed and not collection.index["dense"]:
        raise InputError(NEEDS_DENSE.format(name=collection.name))


def model_installs() -> dict[str, str]:
    """Return the command that installs each packaged embedding model, empty for installed ones.

    The command names the distribution, never a folder: clients of a service read it.
    """
    hint = without_checkout(install_hint("dense"))
    return {model: hint if missing_modules(model) else "" for model in PACKAGED}


def check_model(model: str) -> None:
    """Raise InputError where the packaged *model* is not installed, before anything is indexed."""
    if missing := missing_modules(model):
        installs = model_installs()
        installed = [name for name, install in installs.items() if not install]
        instead = f"choose {' or '.join(installed)}, or " if installed else ""
        raise InputError(
            f"the embedding model {model!r} is not installed on this service (it lacks "
            f"{', '.join(missing)}); {installs[model]} installs it; {instead}leave out the dense "
            'index by "dense": false'
        )


def not_indexed(collection: Collection) -> Conflict:
    """Return the error for a collection that cannot be searched yet, or never will be."""
    why = f": {collection.error}" if collection.error else ", not yet indexed"
    return Conflict(f"collection {collection.name!r} is {collection.status}{why}")


def index_collection(
    collection: Collection, places: AllowedFolders, *, progress: Progress | None = None
) -> IndexedCollection:
    """Cut the documents of *collection*, embed them where that is asked for, and say what is there.

    What is embedded is kept in the caches, so that a benchmark finds it; *progress* hears of it.
    """
    place = collection_place(collection, places)
    corpus = load_corpus(str(place.path), revision=place.revision)
    if not len(corpus):
        left_out = ", ".join(f"{count:,} {why}" for why, count in corpus.skipped.items())
        raise InputError(f"there is no text to search; left out: {left_out or 'nothing'}")
    with user_caches(True).chunks() as cache:
        chunker = create_chunker(str(collection.index["chunker"]))
        chunked = chunk_corpus(corpus, chunker, cache=cache)
    documents = tuple(
        Document(document.path, document.size, _lines(text), len(chunks))
        for (document, text), chunks in zip(corpus.texts(), chunked.by_document, strict=True)
    )
    facts: dict[str, object] = {
        "documents": len(corpus),
        "chunks": len(chunked),
        "skipped": dict(corpus.skipped),
        "fallbacks": dict(chunked.fallbacks),
    }
    # What was uploaded may hold a repository of anybody.
    if collection.source["kind"] != UPLOAD:
        facts["commit"] = commit_of(place.path, place.revision)
    facts["health"] = health_of(collection, corpus)
    if collection.index["dense"]:
        facts["dense"] = _embedded(corpus, collection_spec(collection, "dense"), progress)
    return IndexedCollection(corpus.snapshot, documents, facts)


def health_of(
    collection: Collection, corpus: Corpus, *, queries: Sequence[str] = ()
) -> dict[str, object]:
    """Return what is wrong with the index of *collection*, as JSON can hold it.

    What no query retrieves is among it where there are *queries*.
    """
    mode = "dense" if collection.index["dense"] else "sparse"
    found = index_health(corpus, collection_spec(collection, mode), queries=queries)
    return {**asdict(found), "healthy": found.healthy}


def _embedded(corpus: Corpus, spec: Spec, progress: Progress | None) -> dict[str, object]:
    found = index_ahead(corpus, spec, progress=progress)
    vectors = found.work.get("embedded", 0) + found.work.get("reused", 0)
    return {"vectors": vectors, "dimension": found.dimension}


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


# In so many chunks may one line or word be: each of them is kept, and embedded.
MOST_COPIES = 10


def check_cutting(chunker: str) -> None:
    """Refuse a *chunker* that nothing is called, or that repeats too much, in words of a command.

    >>> check_cutting("window(unit=characters, size=100, overlap=95)")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: chunker 'window': overlap is 95; expected at most 90 of 100 here
    """
    name, _ = parse_call(chunker)
    try:
        # Before it is made: what is no name would be taken for a module, and loaded.
        CHUNKERS.canonical(name.partition(":")[0])
        spec = create_chunker(chunker).spec
    except UnknownName as error:
        raise InputError(str(error)) from None
    size, overlap = spec.params.get("size"), spec.params.get("overlap")
    if isinstance(size, int) and isinstance(overlap, int):
        most = size * (MOST_COPIES - 1) // MOST_COPIES
        if overlap > most:
            raise InputError(
                f"chunker {spec.name!r}: overlap is {overlap}; expected at most {most} of {size} "
                "here"
            )
