"""Mappings: what the references of a dataset mean in a collection, by rule and by hand."""

from karat.app.collections import Places, collection_corpus, not_indexed
from karat.app.resolve import Unresolved, resolve
from karat.errors import UnknownName
from karat.store.service import Mapped, ServiceStore

__all__ = ["bind_reference", "resolve_mapping"]


def resolve_mapping(store: ServiceStore, mapping: str, places: Places) -> Mapped:
    """Look every reference of a mapping up, and return the mapping as it then is.

    What was bound by hand stays so, as long as that document is there. Conflict while the
    collection is not indexed.
    """
    mapped = store.mappings.get(mapping)
    collection = store.collections.get(mapped.collection)
    if collection.status != "ready":
        raise not_indexed(collection)
    gold = store.datasets.gold(store.datasets.get(mapped.dataset).gold)
    corpus = collection_corpus(collection, places)
    by_hand = {
        (each["query"], each["reference"]): each["path"]
        for each in mapped.by_hand
        if each["path"] in corpus.by_path
    }
    found = resolve(gold, corpus, by_hand=by_hand)
    store.mappings.keep_resolution(
        mapping,
        found.dataset,
        mapped=found.mapped_count,
        total=found.total_count,
        unresolved=[_record(each) for each in found.unresolved],
    )
    return store.mappings.get(mapping)


def bind_reference(
    store: ServiceStore, mapping: str, *, query: str, reference: str, path: str, places: Places
) -> Mapped:
    """Let *path* be what an unresolved *reference* (its hash) of *query* means."""
    mapped = store.mappings.get(mapping)
    known = {(each["query_id"], each["doc_ref_hash"]) for each in mapped.unresolved}
    if (query, reference) not in known:
        raise UnknownName(f"query {query!r} has no unresolved reference {reference}")
    store.collections.document(mapped.collection, path)
    store.mappings.bind(mapping, query=query, reference=reference, path=path)
    return resolve_mapping(store, mapping, places)


def _record(unresolved: Unresolved) -> dict[str, object]:
    record = unresolved._asdict()
    return {**record, "doc_ref": dict(unresolved.doc_ref), "candidates": list(record["candidates"])}
