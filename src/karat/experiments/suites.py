"""Suites: lists of configurations by name, bundled or in a file of the user."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from karat.engines.embedding.catalogue import embedder_named
from karat.engines.rerank import DEFAULT_RERANKER
from karat.errors import InputError, UnknownName
from karat.experiments.matrix import axis_problems
from karat.experiments.workers import Configuration
from karat.formats.akashic_suites import SuiteConfig, read_suites
from karat.model.spec import Spec

__all__ = ["BUNDLED", "suite", "suite_configuration", "suites"]

BUNDLED = Path(__file__).with_name("suites.yaml")


def suites(path: str | os.PathLike[str] = BUNDLED) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the suites in *path* by name."""
    return read_suites(path)


def suite(
    name: str, path: str | os.PathLike[str] = BUNDLED, *, k: int = 100
) -> tuple[Configuration, ...]:
    """Return the configurations of the suite *name*, each asked for *k* hits.

    >>> [configuration.name for configuration in suite("quick_test")]
    ['small chunks', 'large chunks']
    """
    known = suites(path)
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        raise UnknownName(f"no suite named {name!r}; {hint}")
    configurations, wrong = [], []
    for config in known[name]:
        try:
            configurations.append(suite_configuration(config, k=k))
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))
    return tuple(configurations)


def suite_configuration(config: SuiteConfig, *, k: int = 100) -> Configuration:
    """Return the dense configuration that *config* describes.

    Chunks are windows of ``chunk_size`` words and signs. A chunk that is too long for the model is
    embedded in parts. All settings that cannot be applied are reported at once.
    """
    chunker, reranker = f"window:{config.chunk_size}", _reranker(config.reranker_model)
    named = {"models": config.embedding_model, "chunkers": chunker, "rerankers": reranker}
    wrong = [message for axis, name in named.items() for _, message in axis_problems(axis, (name,))]
    if config.reranker_model and not config.use_reranker:
        wrong.append(f"reranker_model {config.reranker_model!r} without use_reranker")
    if wrong:
        raise InputError("\n".join(f"{config.name}: {message}" for message in wrong))
    model = embedder_named(config.embedding_model)
    spec = Spec("engine", "dense", {"model": model, "windows": "all", "chunker": chunker})
    if config.use_reranker:
        over = {"engine": spec.name, **spec.params}
        spec = Spec("engine", "rerank", {"over": over, "model": reranker})
    settings = config._asdict()
    name = settings.pop("name")
    options = {option: value for option, value in settings.items() if value != ""}
    return Configuration(name, spec, k, options=options)


def _reranker(model: str) -> str:
    """Return the name of a reranker: what the hub calls owner/model is a cross-encoder there."""
    return f"cross:{model}" if "/" in model and ":" not in model else model or DEFAULT_RERANKER
