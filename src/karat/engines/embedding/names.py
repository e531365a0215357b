"""What other tools call the models whose weights come with Karat."""

from collections.abc import Mapping

from karat.engines.embedding.catalogue import EMBEDDERS

__all__ = ["embedder_named"]

HUB: Mapping[str, str] = {
    "sentence-transformers/all-minilm-l6-v2": "minilm",
    "all-minilm-l6-v2": "minilm",
    "ibm-granite/granite-embedding-30m-english": "granite",
    "granite-embedding-30m-english": "granite",
}


def embedder_named(name: str) -> str:
    """Return the specification of the embedder that a user calls *name*.

    A name of the hub whose weights are here is that of the packaged model; any other of the form
    ``owner/model`` is loaded by sentence-transformers. A name that nothing has is refused.

    >>> embedder_named("sentence-transformers/all-MiniLM-L6-v2"), embedder_named("BAAI/bge-m3")
    ('minilm', 'st:BAAI/bge-m3')
    >>> embedder_named("minilm:512")
    'minilm:512'
    """
    if packaged := HUB.get(name.lower()):
        return packaged
    if "/" in name and ":" not in name:
        return f"st:{name}"
    EMBEDDERS.split(name)
    return name
