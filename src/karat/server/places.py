"""Where the documents of a collection are, and what they were indexed with."""

from typing import Any

from karat.app.benchmarks import IndexState
from karat.app.where import Where
from karat.server.settings import Settings
from karat.store.service import Collection

__all__ = ["index_of", "where_of"]


def where_of(collection: Collection, settings: Settings) -> Where:
    """Return the documents of *collection* as an experiment finds them."""
    source: Any = collection.source
    if source["kind"] == "upload":
        return Where(corpus=str(settings.data / "collections" / collection.id))
    return Where(corpus=source["path"], revision=source.get("revision"))


def index_of(collection: Collection) -> IndexState:
    """Return what *collection* was indexed with."""
    given: Any = collection.index
    return IndexState(**{name: given[name] for name in IndexState._fields if name in given})
