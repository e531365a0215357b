"""Collections: documents that are searched, with the state of their index."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from karat.extensions.service.schemas.base import (
    Answer,
    Description,
    FilePath,
    Id,
    Listing,
    Name,
    Request,
    Wide,
)

Mode = Literal["dense", "sparse", "hybrid"]
State = Literal["pending", "indexing", "ready", "failed", "none"]
# A revision that begins with a dash would be taken for an option.
Revision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/^~@{}-]{0,254}$")]
# A name, optionally with a size or parameters. Paths and modules are not allowed over the API.
Chunker = Annotated[
    str, StringConstraints(pattern=r"^[a-z]{1,40}(:[0-9]{1,5}|\([a-z0-9_=, ]{1,200}\))?$")
]


class FolderSource(Request):
    """A folder below one of the roots that the service was started with."""

    kind: Literal["folder"]
    path: FilePath = Field(examples=["/srv/docs"])


class GitSource(Request):
    """A Git repository below such a root, as it was at a revision."""

    kind: Literal["git"]
    path: FilePath = Field(examples=["/srv/project.git"])
    revision: Revision = Field(default="HEAD", examples=["v2.0"])


class BeirSource(Request):
    """A BEIR folder below such a root; its queries may be uploaded as a dataset."""

    kind: Literal["beir"]
    path: FilePath = Field(examples=["/srv/beir/scifact"])


Source = Annotated[FolderSource | GitSource | BeirSource, Field(discriminator="kind")]


class IndexOptions(Request):
    """Which indexes are built, and how documents are cut and embedded."""

    dense: bool = True
    sparse: bool = True
    chunker: Chunker = Field(
        default="auto", examples=["window:256", "window(unit=tokens, size=200, overlap=20)"]
    )
    model: Literal["granite", "minilm", "static"] = "granite"


Glob = Annotated[str, Field(min_length=1, max_length=500)]


class CollectionFiles(Request):
    """The files that belong to the collection: a kind, and globs with the syntax of .gitignore."""

    kind: Literal["docs", "code", "all"] = "all"
    include: list[Glob] = Field(default=[], max_length=100, examples=[["docs/**"]])
    exclude: list[Glob] = Field(default=[], max_length=100, examples=[["*.lock"]])


class CollectionCreate(Request):
    """A collection to create from documents on the service's machine."""

    name: Name
    description: Description = ""
    source: Source
    files: CollectionFiles = CollectionFiles()
    index: IndexOptions = IndexOptions()

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Handbook",
                    "description": "All pages of the handbook",
                    "source": {"kind": "folder", "path": "/srv/handbook"},
                    "index": {"dense": True, "sparse": True},
                }
            ]
        }
    )


class DenseIndex(Answer):
    """The index of embeddings; *state* is ``none`` if it is turned off."""

    state: State
    model: str | None
    dimension: int | None
    vectors: int | None


class SparseIndex(Answer):
    """The index of words."""

    state: State


class CollectionSource(Answer):
    """Where the documents come from; an upload has neither path nor revision."""

    kind: Literal["folder", "git", "beir", "upload"]
    path: str | None
    revision: str | None
    files: CollectionFiles


class Collection(Answer):
    """A collection; *operation_uuid* names the last indexing, whose events can be followed."""

    id: Id
    name: str
    description: str
    owner_id: str
    source: CollectionSource
    status: Literal["pending", "indexing", "ready", "failed"]
    error_message: str | None
    chunker: str
    dense: DenseIndex
    sparse: SparseIndex
    document_count: int
    chunk_count: int
    snapshot: str | None = Field(description="SHA-256 over all paths and contents")
    created_at: datetime
    updated_at: datetime
    operation_uuid: Id | None


class Collections(Listing):
    """A page of collections, the newest first."""

    collections: list[Collection]


class Document(Answer):
    """A document of a collection; *chunks* is the number of its chunks."""

    path: str
    size: int
    lines: int
    chunks: int


class Documents(Listing):
    """A page of documents by path."""

    documents: list[Document]


class DocumentText(Answer):
    """The text of a document, with LF line ends."""

    path: str
    text: str
    language: str


class Flaw(Answer):
    """One kind of flaw: the number of affected chunks, the total, and examples."""

    kind: str = Field(examples=["duplicate"])
    count: int
    of: int
    places: list[str]
    note: str


class Health(Answer):
    """Waste in an index: empty, duplicate, oversized or never-retrieved chunks.

    *skipped* counts the files left out when the collection was made, and *skipped_files* names at
    most 100 unreadable ones for each reason. *fallbacks* counts documents that were not chunked as
    requested. *queries* is the number of queries behind the never-retrieved chunks: those of the
    datasets that are mapped to the collection.
    """

    engine: str
    document_count: int
    chunk_count: int
    queries: int
    healthy: bool
    flaws: list[Flaw]
    skipped: dict[str, int]
    skipped_files: dict[str, list[str]]
    fallbacks: dict[str, int]


class CollectionSearch(Request):
    """One query to run in several modes, side by side."""

    query: Wide = Field(min_length=1, examples=["where is the retry limit set"])
    modes: list[Mode] = Field(default=["hybrid"], min_length=1, max_length=3)
    use_reranker: bool = False
    top_k: int = Field(default=10, ge=1, le=100)


class FoundHit(Answer):
    """A hit; lines count from 1, 0 means the whole document."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    score: float
    text: str


class ModeHits(Answer):
    """The hits of one mode, best first."""

    mode: Mode
    hits: list[FoundHit]
    search_time_ms: float


class CollectionSearchResult(Answer):
    """The hits of each mode, in the requested order."""

    query: str
    results: list[ModeHits]


class Engine(Answer):
    """An engine, by its name in a matrix."""

    name: str = Field(examples=["docs-search"])
    kind: str = Field(examples=["http"], description="The adapter, or a built-in engine")


class Engines(Answer):
    """All engines that the service was started with."""

    engines: list[Engine]
