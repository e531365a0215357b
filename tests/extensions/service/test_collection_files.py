"""Collections: where their documents may lie, what indexing finds, which modes they allow."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from karat.errors import Conflict, InputError, UnknownName
from karat.extensions.service.collections import (
    AllowedFolders,
    allowed_folder,
    collection_corpus,
    collection_spec,
    index_collection,
)
from karat.extensions.service.datasets import bind_reference, resolve_mapping
from karat.extensions.service.store import Collection, ServiceStore
from karat.model import Dataset, Query, Target

WORDS_ONLY = {"dense": False, "sparse": True, "chunker": "auto", "model": "static"}
DOCUMENTS = {"guide/login.md": "# Log in\n\nWith a key.\n", "mail.md": "# Mail", "empty.md": ""}


@pytest.fixture
def folders(tmp_path: Path) -> AllowedFolders:
    root = tmp_path / "root"
    for path, text in DOCUMENTS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return AllowedFolders((root,), tmp_path / "uploads")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ServiceStore]:
    with ServiceStore(tmp_path / "karat.db") as store:
        yield store


Make = Callable[..., Collection]


@pytest.fixture
def make(store: ServiceStore, folders: AllowedFolders) -> Make:
    """Return what makes a collection of the root."""

    def run(**index: object) -> Collection:
        source = {"kind": "folder", "path": str(folders.roots[0])}
        return store.collections.add(
            "ada", "Guide", description="", source=source, index={**WORDS_ONLY, **index}
        )

    return run


def test_a_folder_below_a_root(folders: AllowedFolders) -> None:
    root = folders.roots[0]
    assert allowed_folder(str(root), folders.roots) == root
    assert allowed_folder(f"{root}/./guide/../guide", folders.roots) == root / "guide"


def test_no_way_leads_out_of_the_roots(folders: AllowedFolders, tmp_path: Path) -> None:
    root = folders.roots[0]
    (root / "out").symlink_to(tmp_path)
    (root / "circle").symlink_to(root / "circle")
    (tmp_path / "rootless").mkdir()
    ways = (
        *("/", "/etc", str(tmp_path), f"{root}/..", f"{root}/out", f"{root}/guide/../../rootless"),
        *(f"{root}less", f"{root}/mail.md", f"{root}/nothing"),
        *(f"{root}/circle", f"{root}/{'long' * 100}"),
    )
    for path in ways:
        with pytest.raises(InputError, match="is not a folder at or below an allowed --root"):
            allowed_folder(path, folders.roots)
    for path in ("guide", "."):
        with pytest.raises(InputError, match="is a relative path; give an absolute path"):
            allowed_folder(path, folders.roots)


def test_without_a_root_nothing_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="started without --root"):
        allowed_folder(str(tmp_path), ())


def test_what_indexing_finds(make: Make, folders: AllowedFolders) -> None:
    indexed = index_collection(make(), folders)
    assert [(d.path, d.lines, d.size) for d in indexed.documents] == [
        ("empty.md", 0, 0),
        ("guide/login.md", 3, 22),
        ("mail.md", 1, 6),
    ]
    assert indexed.facts["documents"] == 3
    assert indexed.facts["chunks"] == sum(document.chunks for document in indexed.documents) > 0
    assert "dense" not in indexed.facts


def test_vectors_are_counted(make: Make, folders: AllowedFolders) -> None:
    pytest.importorskip("wordllama")
    dense = index_collection(make(dense=True), folders).facts["dense"]
    assert isinstance(dense, dict)
    assert dense["vectors"] >= 2
    assert dense["dimension"] > 0


def test_nothing_to_search(store: ServiceStore, folders: AllowedFolders) -> None:
    empty = folders.roots[0] / "none"
    empty.mkdir()
    source = {"kind": "folder", "path": str(empty)}
    made = store.collections.add("ada", "None", description="", source=source, index=WORDS_ONLY)
    with pytest.raises(InputError, match="no text to search"):
        index_collection(made, folders)


def test_documents_that_have_changed(
    make: Make, store: ServiceStore, folders: AllowedFolders
) -> None:
    made = make()
    indexed = index_collection(made, folders)
    store.collections.change(
        made.id, status="ready", snapshot=indexed.snapshot, facts=indexed.facts
    )
    made = store.collections.get(made.id)
    assert collection_corpus(made, folders).read("mail.md") == "# Mail"
    (folders.roots[0] / "mail.md").write_text("# Post", encoding="utf-8")
    with pytest.raises(Conflict, match="have changed since"):
        collection_corpus(made, folders)


def test_a_mode_needs_its_index(make: Make) -> None:
    words, vectors = make(), make(dense=True, sparse=False)
    assert collection_spec(words, "sparse").name == "bm25"
    assert collection_spec(vectors, "dense", use_reranker=True).name == "rerank"
    for collection, mode in ((vectors, "sparse"), (vectors, "hybrid")):
        with pytest.raises(InputError, match="no sparse index"):
            collection_spec(collection, mode)
    for mode in ("dense", "hybrid"):
        with pytest.raises(InputError, match="no dense index"):
            collection_spec(words, mode)


def test_the_settings_of_the_index_reach_the_engine(make: Make) -> None:
    spec = collection_spec(make(dense=True, chunker="lines:20"), "hybrid")
    assert spec.params["chunker"] == "lines:20"
    assert spec.params["model"] == "static"


@pytest.fixture
def gold() -> Dataset:
    targets = (Target("guide/login.md", 2.0), Target("file:///srv/lost.md", 3.0, ref="uri"))
    return Dataset.of([Query("q1", "log in", targets)], match="document")


def test_references_by_rule_and_by_hand(
    make: Make, store: ServiceStore, folders: AllowedFolders, gold: Dataset
) -> None:
    made = make()
    dataset = store.datasets.add("ada", "D", description="", gold=gold, schema_version="1.0")
    mapping = store.mappings.add(dataset.id, made.id).id
    with pytest.raises(Conflict, match="is pending"):
        resolve_mapping(store, mapping, folders)
    indexed = index_collection(made, folders)
    store.collections.keep_documents(made.id, indexed.documents)
    store.collections.change(
        made.id, status="ready", snapshot=indexed.snapshot, facts=indexed.facts
    )

    partial = resolve_mapping(store, mapping, folders)
    assert (partial.status, partial.mapped, partial.total) == ("partial", 1, 2)
    (lost,) = partial.unresolved
    assert (lost["query_id"], lost["reason"]) == ("q1", "not_found")

    reference = str(lost["doc_ref_hash"])
    with pytest.raises(UnknownName, match="no unresolved reference"):
        bind_reference(
            store, mapping, query="q2", reference=reference, path="mail.md", folders=folders
        )
    with pytest.raises(UnknownName, match="document"):
        bind_reference(store, mapping, query="q1", reference=reference, path="x", folders=folders)
    whole = bind_reference(
        store, mapping, query="q1", reference=reference, path="mail.md", folders=folders
    )
    assert (whole.status, whole.mapped, whole.unresolved) == ("resolved", 2, [])
    assert whole.resolved is not None
    assert store.datasets.gold(whole.resolved).judgments(0) == {
        "guide/login.md": 2.0,
        "mail.md": 3.0,
    }
    assert resolve_mapping(store, mapping, folders).status == "resolved", "it stays bound"
