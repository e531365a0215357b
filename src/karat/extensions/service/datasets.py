"""Uploaded datasets: read within limits, with problems reported by line, and stored."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from karat.app.resolve import UnresolvedReference, resolve
from karat.errors import (
    Conflict,
    FormatError,
    InputError,
    LimitExceeded,
    StorageFull,
    UnknownName,
)
from karat.extensions.service.archives import ArchiveLimits, unpack
from karat.extensions.service.collections import AllowedFolders, collection_corpus, not_indexed
from karat.extensions.service.schemas.datasets import MovedFolder
from karat.extensions.service.store import DatasetMapping, ServiceStore
from karat.formats import DEFAULT, ReadLimits, read_dataset
from karat.model import Dataset
from karat.system.files import is_disk_full
from karat.system.words import counted

SCHEMA_VERSION = "1.0"
# Kinds of references that have a path.
WITH_PATH = frozenset({"uri", "path", "document_id"})
ZIP = b"PK\x03\x04"
PACKED = (b"\x1f\x8b", b"PAR1")  # gzip and Parquet
NOT_PLAIN = "the file is compressed or Parquet; expected plain text, or a zip of a BEIR folder"


class Upload(NamedTuple):
    """An uploaded file, with the name and the owner of the dataset."""

    file: Path
    owner: str
    name: str
    description: str = ""
    limits: ReadLimits = DEFAULT


class RejectedFile(NamedTuple):
    """Why a file is rejected; exceptions are not passed between processes."""

    reason: str
    too_large: bool


def read_upload(file: Path, limits: ReadLimits = DEFAULT) -> Dataset:
    """Return the gold set in *file*, of any format, within *limits*.

    Of several files, as BEIR has them, it is a zip. Other compressed files are rejected: their
    unpacked size is known too late.
    """
    if _begins(file, *PACKED):
        raise InputError(NOT_PLAIN)
    zipped = _begins(file, ZIP)
    gold = _from_beir(file, limits) if zipped else read_dataset(file, limits=limits)
    if len(gold) > limits.upload_queries:
        raise LimitExceeded(f"{len(gold):,} queries; at most {limits.upload_queries:,} are allowed")
    for row, query in enumerate(gold.query_ids):
        if not gold.texts[row].strip():
            raise InputError(f"query {query!r} has no text to search for")
        count = gold.offsets[row + 1] - gold.offsets[row]
        if count > limits.upload_judgments:
            raise LimitExceeded(
                f"query {query!r} has {count:,} judgments; at most {limits.upload_judgments:,} "
                "are allowed"
            )
    return gold


def _from_beir(file: Path, limits: ReadLimits) -> Dataset:
    """Return the queries and judgments of a zipped BEIR folder; its corpus may be left out."""
    bounds = ArchiveLimits(limits.upload_bytes * 10, files=100, ratio=100)
    target = file.with_name("beir")
    unpack(file, target, bounds)
    try:
        files = sorted(path for path in target.rglob("*") if path.is_file())
        if any(_begins(member, *PACKED) for member in files):
            raise InputError(NOT_PLAIN)
        for member in files:
            if member.name == "queries.jsonl":
                return read_dataset(member.parent, format="beir", limits=limits)
    finally:
        shutil.rmtree(target)
    raise InputError("the archive holds no queries.jsonl; expected a BEIR folder")


def _begins(file: Path, *signs: bytes) -> bool:
    with file.open("rb") as stream:
        return stream.read(4).startswith(signs)


def add_dataset(store: str, upload: Upload) -> str | RejectedFile:
    """Store an uploaded dataset in *store* and return its id, or why it was rejected.

    To be called in a process of its own: a large file takes seconds to read.
    """
    try:
        gold = read_upload(upload.file, upload.limits)
        with ServiceStore(store) as opened:
            return opened.datasets.add(
                upload.owner,
                upload.name,
                description=upload.description,
                gold=gold,
                schema_version=SCHEMA_VERSION,
            ).id
    except InputError as error:
        if is_disk_full(error):
            raise StorageFull(str(error)) from error
        # The temporary folder means nothing to the client.
        reason = str(error).replace(f"{upload.file.parent}/", "")
        too_large = isinstance(error, LimitExceeded) and not isinstance(error, FormatError)
        return RejectedFile(reason, too_large)


def resolve_mapping(store: ServiceStore, mapping: str, folders: AllowedFolders) -> DatasetMapping:
    """Look every reference of a mapping up, and return the mapping as it then is.

    References bound by hand stay bound as long as their document exists. Conflict while the
    collection is not indexed.
    """
    mapped = store.mappings.get(mapping)
    collection = store.collections.get(mapped.collection)
    if collection.status != "ready":
        raise not_indexed(collection)
    gold = store.datasets.gold(store.datasets.get(mapped.dataset).gold)
    corpus = collection_corpus(collection, folders)
    by_hand = {
        (each["query"], each["reference"]): each["path"]
        for each in mapped.by_hand
        if each["path"] in corpus.by_path
    }
    resolution = resolve(gold, corpus, by_hand=by_hand)
    store.mappings.keep_resolution(
        mapping,
        resolution.dataset,
        mapped=resolution.mapped_count,
        total=resolution.total_count,
        unresolved=[_record(each) for each in resolution.unresolved],
    )
    return store.mappings.get(mapping)


def bind_reference(
    store: ServiceStore,
    mapping: str,
    *,
    query: str,
    reference: str,
    path: str,
    folders: AllowedFolders,
) -> DatasetMapping:
    """Bind an unresolved *reference* (its hash) of *query* to the document *path*."""
    mapped = store.mappings.get(mapping)
    known = {(each["query_id"], each["doc_ref_hash"]) for each in mapped.unresolved}
    if (query, reference) not in known:
        raise UnknownName(f"query {query!r} has no unresolved reference {reference}")
    store.collections.document(mapped.collection, path)
    store.mappings.bind(mapping, [{"query": query, "reference": reference, "path": path}])
    return resolve_mapping(store, mapping, folders)


def moved_folder(store: ServiceStore, mapped: DatasetMapping) -> MovedFolder | None:
    """Return the folder whose other name resolves most references of *mapped*, None without one."""
    if not mapped.unresolved:
        return None
    paths = frozenset(store.collections.paths(mapped.collection))
    return renamed_folder([path for _, path in _missing(mapped)], paths)


def renamed_folder(missing: Collection[str], paths: Collection[str]) -> MovedFolder | None:
    """Return the folder of *missing* paths that is called otherwise among *paths*.

    >>> renamed_folder(["docs/a.md", "docs/b/c.md"], {"book/a.md", "book/b/c.md"})
    MovedFolder(reference_folder='docs/', collection_folder='book/', reference_count=2)
    """
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_name[path.rpartition("/")[2]].append(path)
    pairs = Counter(
        _own_folders(name, path)
        for name in missing
        for path in by_name.get(name.rpartition("/")[2], ())
    )
    if not pairs:
        return None
    # Of two that explain as many, the same one on each machine.
    old, new = min(pairs, key=lambda pair: (-pairs[pair], pair))
    moved = [new + name[len(old) :] for name in missing if name.startswith(old)]
    return MovedFolder(
        reference_folder=old,
        collection_folder=new,
        reference_count=sum(path in paths for path in moved),
    )


def _own_folders(one: str, other: str) -> tuple[str, str]:
    """Return what stands before the folders and the name that both paths end with."""
    ours, theirs = one.split("/"), other.split("/")
    while ours and theirs and ours[-1] == theirs[-1]:
        ours.pop()
        theirs.pop()
    old, new = ("".join(f"{part}/" for part in parts) for parts in (ours, theirs))
    return old, new


def _missing(mapped: DatasetMapping) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each unresolved reference that has a path, and that path."""
    for each in mapped.unresolved:
        reference: Any = each["doc_ref"]
        for kind, name in reference.items():
            if each["reason"] == "not_found" and kind in WITH_PATH:
                path = unquote(urlsplit(name).path) if kind == "uri" else str(name)
                yield each, path.lstrip("/")


def bind_folder(
    store: ServiceStore, mapping: str, *, old: str, new: str, folders: AllowedFolders
) -> DatasetMapping:
    """Bind all unresolved references below the folder *old* to the documents below *new*."""
    mapped = store.mappings.get(mapping)
    paths = frozenset(store.collections.paths(mapped.collection))
    moved = [
        {"query": each["query_id"], "reference": each["doc_ref_hash"], "path": path}
        for each, name in _missing(mapped)
        if name.startswith(old) and (path := new + name[len(old) :]) in paths
    ]
    if not moved:
        raise InputError(
            f"no unresolved reference below {old or 'the root'!r} is a document below "
            f"{new or 'the root'!r} of the collection"
        )
    store.mappings.bind(mapping, moved)
    return resolve_mapping(store, mapping, folders)


def check_resolved(store: ServiceStore, mapped: DatasetMapping) -> None:
    """Raise Conflict where references were looked up and none of them is a document."""
    if mapped.status == "pending" or mapped.mapped or not mapped.total:
        return
    names = store.datasets.get(mapped.dataset).name, store.collections.get(mapped.collection).name
    moved = moved_folder(store, mapped)
    fix = (
        f"{counted(moved.reference_count, 'reference')} would be resolved if all of "
        f"{moved.reference_folder or 'the root'} is {moved.collection_folder or 'the root'} there: "
        "confirm it on the page of the dataset (Collections)"
        if moved
        else "map the dataset to its own collection, or bind its references by hand"
    )
    raise Conflict(
        f"none of the {counted(mapped.total, 'reference')} of dataset {names[0]!r} is a document "
        f"of collection {names[1]!r}, so every score would be 0; {fix}"
    )


def _record(unresolved: UnresolvedReference) -> dict[str, object]:
    record = unresolved._asdict()
    return {**record, "doc_ref": dict(unresolved.doc_ref), "candidates": list(record["candidates"])}
