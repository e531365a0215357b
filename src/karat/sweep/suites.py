"""Suites: lists of configurations by name, bundled or in a file of the user."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from karat.corpus import create_chunker
from karat.engines.embedding.names import embedder_named
from karat.engines.rerank import DEFAULT_RERANKER, RERANKERS
from karat.errors import InputError, UnknownName
from karat.formats.akashic_suites import SuiteConfig, read_suites
from karat.model.spec import Spec
from karat.sweep.entries import Entry

__all__ = ["BUNDLED", "entry_of", "suite", "suites"]

BUNDLED = Path(__file__).with_name("suites.yaml")


def suites(path: str | os.PathLike[str] = BUNDLED) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the suites in *path* by name."""
    return read_suites(path)


def suite(name: str, path: str | os.PathLike[str] = BUNDLED, *, k: int = 100) -> tuple[Entry, ...]:
    """Return the configurations of the suite *name*, each asked for *k* hits.

    >>> [entry.name for entry in suite("quick_test")]
    ['small chunks', 'large chunks']
    """
    known = suites(path)
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        raise UnknownName(f"no suite named {name!r}; {hint}")
    return tuple(entry_of(config, k=k) for config in known[name])


def entry_of(config: SuiteConfig, *, k: int = 100) -> Entry:
    """Return the search by embeddings that *config* describes.

    Chunks are windows of ``chunk_size`` words and signs. What the model cannot read at once is
    embedded in parts, so that a large chunk is searched to its end. What cannot be applied is
    refused.
    """
    try:
        model = embedder_named(config.embedding_model)
        chunker = f"window:{config.chunk_size}"
        create_chunker(chunker)
        spec = Spec("engine", "dense", {"model": model, "windows": "all", "chunker": chunker})
        if config.use_reranker:
            spec = _reranked(spec, config.reranker_model)
        elif config.reranker_model:
            raise InputError(f"reranker_model {config.reranker_model!r} without use_reranker")
    except UnknownName as error:
        raise UnknownName(f"{config.name}: {error}") from None
    except InputError as error:
        raise InputError(f"{config.name}: {error}") from None
    said = config._asdict()
    name = said.pop("name")
    options = {option: value for option, value in said.items() if value != ""}
    return Entry(name, spec, k, options=options)


def _reranked(spec: Spec, model: str) -> Spec:
    over = {"engine": spec.name, **spec.params}
    if not model:
        return Spec("engine", "rerank", {"over": over, "model": DEFAULT_RERANKER})
    # What the hub calls owner/model is a cross-encoder there.
    named = f"cross:{model}" if "/" in model and ":" not in model else model
    RERANKERS.split(named)
    return Spec("engine", "rerank", {"over": over, "model": named})
