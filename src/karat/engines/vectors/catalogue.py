"""The vector stores by name, and how a configuration becomes a back end."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from karat.engines.vectors.backend import VectorBackend
from karat.engines.vectors.store import VectorStore
from karat.errors import InputError
from karat.registry import Registry

__all__ = ["VECTOR_STORES", "get_vector_backend"]

VECTOR_STORES: Registry[Callable[..., VectorStore]] = Registry(
    "vector_store",
    {
        "in_memory": "karat.engines.vectors.in_memory:InMemoryStore",
        "pgvector": "karat.engines.vectors.postgres:PgVectorStore",
        "qdrant": "karat.engines.vectors.qdrant:QdrantStore",
    },
    aliases={"memory": "in_memory", "postgres": "pgvector", "postgresql": "pgvector"},
)


def get_vector_backend(config: Mapping[str, Any]) -> VectorBackend:
    """Return the back end that *config* describes, ready to use.

    ``type`` names the store: ``in_memory``, ``qdrant``, ``pgvector``, a plug-in of the entry point
    group ``karat.vector_stores``, or ``module:Class``. ``metrics_callback`` may be None. Every
    other entry is an option of the store; one that it does not know is refused.

    >>> get_vector_backend({"type": "in_memory", "metrics_callback": None}).namespaces()
    []
    >>> get_vector_backend({"type": "qdrnt"})
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no vector_store named 'qdrnt'; did you mean 'qdrant'?
    """
    options = dict(config)
    kind = options.pop("type", None)
    if not isinstance(kind, str):
        known = ", ".join(sorted(VECTOR_STORES))
        raise InputError(f"the back end's type is {kind!r}; expected one of: {known}")
    callback = options.pop("metrics_callback", None)
    if callback is not None and not callable(callback):
        raise InputError(f"metrics_callback is {callback!r}; expected a function or None")
    store = VECTOR_STORES.get(kind)
    signature = inspect.signature(store)
    try:
        signature.bind(**options)
    except TypeError as error:
        known = ", ".join(signature.parameters) or "no options"
        raise InputError(f"vector back end {kind!r}: {error}; expected {known}") from None
    return VectorBackend(store(**options), metrics_callback=callback)
