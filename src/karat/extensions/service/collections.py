"""Collections: their folders, index and documents, and engines that stay ready to search them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from time import perf_counter_ns
from typing import NamedTuple

from karat.app.corpora import FileSelection, load_corpus, skipped_by_reason
from karat.app.engines import search_modes
from karat.app.index import chunk_documents, commit_of, pinned_commit
from karat.app.search import engine_of, index_ahead
from karat.corpus import UPLOADS_MARK, Corpus
from karat.engines.base import Engine, Progress
from karat.errors import Conflict, InputError
from karat.experiments.matrix import Matrix
from karat.extensions.analyze.index import index_health
from karat.extensions.service.recent import RecentValues
from karat.extensions.service.store.records import Collection, StoredDocument
from karat.model import Hit
from karat.model.spec import Spec

UPLOAD = "upload"
NEEDS_SPARSE = (
    "collection {name!r} has no sparse index, which the modes sparse and hybrid need; create a "
    "collection with one"
)
NEEDS_DENSE = "collection {name!r} has no dense index, which the modes dense and hybrid need"


class AllowedFolders(NamedTuple):
    """The folders of documents: below one of *roots*, or unpacked below *uploads*."""

    roots: Sequence[Path]
    uploads: Path


class SourceFolder(NamedTuple):
    """A folder or a repository on disk; *revision* belongs to the latter."""

    path: Path
    revision: str | None = None
    selection: FileSelection = FileSelection()


@dataclass(frozen=True, slots=True)
class IndexedCollection:
    """The result of indexing; *facts* is JSON."""

    snapshot: str
    documents: tuple[StoredDocument, ...]
    facts: Mapping[str, object]


def open_uploads(uploads: Path) -> None:
    """Create the folder of uploaded documents, in which the rules of a checkout do not apply."""
    uploads.mkdir(mode=0o700, parents=True, exist_ok=True)
    (uploads / UPLOADS_MARK).touch(mode=0o600)


def allowed_folder(path: str, roots: Sequence[Path]) -> Path:
    """Return the real folder that *path* means, if it is one of *roots* or below one.

    Links are followed first, so that none leads out. The error does not show whether a path
    outside exists.
    """
    given = Path(path)
    try:
        real = given.resolve()
        inside = any(real.is_relative_to(root.resolve()) for root in roots)
        allowed = given.is_absolute() and inside and real.is_dir()
    except (OSError, RuntimeError):  # A name that is too long, or links in a circle.
        allowed = False
    if not allowed:
        root_list = ", ".join(map(str, roots)) or "the service was started without --root"
        if not given.is_absolute():
            raise InputError(
                f"{path!r} is a relative path; give an absolute path on the service's machine, at "
                f"or below an allowed --root ({root_list})"
            )
        raise InputError(f"{path!r} is not a folder at or below an allowed --root ({root_list})")
    return real


def source_now(collection: Collection, roots: Sequence[Path]) -> dict[str, object]:
    """Return the source of *collection* with the commit that its revision is by now."""
    source = dict(collection.source)
    if asked := source.get("asked"):
        folder = allowed_folder(str(source["path"]), roots)
        source["revision"] = pinned_commit(folder, str(asked))
    return source


def collection_folder(collection: Collection, folders: AllowedFolders) -> SourceFolder:
    """Return the folder of the documents of *collection*."""
    source = collection.source
    if source["kind"] == UPLOAD:
        folder = folders.uploads / collection.id
        if not folder.is_dir():
            raise InputError(
                f"the uploaded documents of collection {collection.name!r} are no longer on the "
                "disk of the service; delete the collection and upload them again"
            )
        return SourceFolder(folder, None, selected_files(collection))
    revision = source.get("revision")
    folder = allowed_folder(str(source["path"]), folders.roots)
    named = None if revision is None else str(revision)
    return SourceFolder(folder, named, selected_files(collection))


def selected_files(collection: Collection) -> FileSelection:
    """Return the files of the source that belong to *collection*, by default all."""
    files = collection.source.get("files")
    if not isinstance(files, Mapping):
        return FileSelection()
    include, exclude = (tuple(files.get(key, ())) for key in ("include", "exclude"))
    return FileSelection(str(files.get("kind", "all")), include, exclude)


def collection_corpus(collection: Collection, folders: AllowedFolders) -> Corpus:
    """Return the documents of *collection* as they are now.

    Conflict where they are no longer those that were indexed.
    """
    source = collection_folder(collection, folders)
    corpus = load_corpus(str(source.path), revision=source.revision, selection=source.selection)
    if collection.snapshot and corpus.snapshot != collection.snapshot:
        raise Conflict(
            f"the documents of collection {collection.name!r} have changed since they were "
            "indexed; reindex it"
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
    needed = {part for mode in modes for part in by_mode[mode]}
    if "lexical" in needed and not collection.index["sparse"]:
        raise InputError(NEEDS_SPARSE.format(name=collection.name))
    if "dense" in needed and not collection.index["dense"]:
        raise InputError(NEEDS_DENSE.format(name=collection.name))


def indexed_modes(collection: Collection) -> list[str]:
    """Return the modes whose indexes *collection* has."""
    has = {"lexical": collection.index["sparse"], "dense": collection.index["dense"]}
    modes = search_modes().items()
    return [mode for mode, parts in modes if parts and all(map(has.get, parts))]


def not_indexed(collection: Collection) -> Conflict:
    """Return the error for a collection that cannot be searched yet, or never will be."""
    why = f": {collection.error}" if collection.error else ", not yet indexed"
    return Conflict(f"collection {collection.name!r} is {collection.status}{why}")


def index_collection(
    collection: Collection, folders: AllowedFolders, *, progress: Progress | None = None
) -> IndexedCollection:
    """Cut the documents of *collection* into chunks, embed them if required, and return the facts.

    Vectors are cached, so that a benchmark reuses them; *progress* receives the numbers.
    """
    source = collection_folder(collection, folders)
    corpus = load_corpus(str(source.path), revision=source.revision, selection=source.selection)
    if not len(corpus):
        left_out = ", ".join(f"{count:,} {why}" for why, count in corpus.skipped.items())
        raise InputError(f"there is no text to search; left out: {left_out or 'nothing'}")
    chunked = chunk_documents(corpus, str(collection.index["chunker"]))
    documents = tuple(
        StoredDocument(document.path, document.size, _lines(text), len(chunks))
        for (document, text), chunks in zip(corpus.texts(), chunked.by_document, strict=True)
    )
    facts: dict[str, object] = {
        "documents": len(corpus),
        "chunks": len(chunked),
        "skipped": dict(corpus.skipped),
        "skipped_files": {
            reason: paths[:MOST_SKIPPED]
            for reason, paths in skipped_by_reason(corpus.skipped_files).items()
        },
        "fallbacks": dict(chunked.fallbacks),
    }
    # An upload may contain an unrelated repository.
    if collection.source["kind"] != UPLOAD:
        facts["commit"] = commit_of(source.path, source.revision)
    facts["health"] = health_of(collection, corpus)
    if collection.index["dense"]:
        facts["dense"] = _embedded(corpus, collection_spec(collection, "dense"), progress)
    return IndexedCollection(corpus.snapshot, documents, facts)


def health_of(
    collection: Collection, corpus: Corpus, *, queries: Sequence[str] = ()
) -> dict[str, object]:
    """Return the waste in the index of *collection*, as JSON.

    With *queries*, it includes chunks that none of them retrieves.
    """
    mode = "dense" if collection.index["dense"] else "sparse"
    health = index_health(corpus, collection_spec(collection, mode), queries=queries)
    return {**asdict(health), "healthy": health.healthy}


def _embedded(corpus: Corpus, spec: Spec, progress: Progress | None) -> dict[str, object]:
    index = index_ahead(corpus, spec, progress=progress)
    vectors = int(index.work.get("embedded", 0) + index.work.get("reused", 0))
    return {"vectors": vectors, "dimension": index.dimension}


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


MOST_COLLECTIONS = 4
# Skipped files that are named for each reason.
MOST_SKIPPED = 100


class ModeResult(NamedTuple):
    """The hits of one mode, and the search time without indexing."""

    hits: list[Hit]
    search_ns: int


@dataclass
class _SearchableCollection:
    """The documents of a collection and its engines, each after its first use.

    Reading documents does not wait for a search.
    """

    corpus: Corpus | None = None
    engines: dict[str, Engine] = field(default_factory=dict)
    reading: Lock = field(default_factory=Lock)
    searching: Lock = field(default_factory=Lock)


class SearcherCache:
    """An LRU cache of collections that are ready to be searched; threads may share it.

    One thread at a time reads or indexes a collection; others that need it wait.
    """

    def __init__(self, folders: AllowedFolders) -> None:
        """Start with none."""
        self._folders = folders
        self._ready = RecentValues[tuple[str, str], _SearchableCollection](MOST_COLLECTIONS)
        self._lock = Lock()

    def corpus(self, collection: Collection) -> Corpus:
        """Return the documents of *collection*, as they were indexed."""
        ready = self._of(collection)
        with ready.reading:
            if ready.corpus is None:
                ready.corpus = collection_corpus(collection, self._folders)
            return ready.corpus

    def search(
        self, collection: Collection, query: str, mode: str, *, use_reranker: bool, top_k: int
    ) -> ModeResult:
        """Return the hits of *mode*."""
        spec = collection_spec(collection, mode, use_reranker=use_reranker, top_k=top_k)
        corpus = self.corpus(collection)
        ready = self._of(collection)
        with ready.searching:
            engine = ready.engines.get(spec.digest)
            if engine is None:
                engine = engine_of(spec)
                engine.index(corpus)
                ready.engines[spec.digest] = engine
            begun = perf_counter_ns()
            hits = list(engine.search(query, top_k))
            return ModeResult(hits, perf_counter_ns() - begun)

    def _of(self, collection: Collection) -> _SearchableCollection:
        key = (collection.id, collection.snapshot)
        with self._lock:
            return self._ready.get(key, _SearchableCollection)
