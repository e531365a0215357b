"""The embedders by name, how a specification becomes one, and the default."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from karat.engines.embedding.base import Embedder
from karat.errors import InputError
from karat.registry import Registry

__all__ = ["DEFAULT_EMBEDDER", "EMBEDDERS", "create_embedder", "loaded_once"]

DEFAULT_EMBEDDER = "granite"

EMBEDDERS: Registry[Callable[..., Embedder]] = Registry(
    "embedder",
    {
        "granite": "karat.engines.embedding.granite:granite",
        "minilm": "karat.engines.embedding.minilm:minilm",
        "onnx": "karat.engines.embedding.onnx_folder:onnx_folder",
        "openai": "karat.engines.embedding.remote:openai",
        "st": "karat.engines.embedding.transformer:transformer",
        "static": "karat.engines.embedding.static:static",
    },
    aliases={"sentence-transformers": "st", "http": "openai"},
)


Embedders = dict[str, Embedder]
_LOADED: ContextVar[Embedders | None] = ContextVar("loaded", default=None)


@contextmanager
def loaded_once(embedders: Embedders) -> Iterator[None]:
    """Let what is created meanwhile share its models: those of *embedders* are not loaded again.

    Within another such block, the models of the outer one are shared.
    """
    token = _LOADED.set(embedders if (outer := _LOADED.get()) is None else outer)
    try:
        yield
    finally:
        _LOADED.reset(token)


def create_embedder(spec: str = DEFAULT_EMBEDDER, **options: Any) -> Embedder:
    """Return the embedder that *spec* describes: a name, and after a colon what it is about.

    ``static``, ``granite``, ``minilm`` (both also with a number of tokens, ``granite:512``),
    ``onnx:<folder>``, ``st:<hub id or folder>``, ``openai:<model>@<url>``, a plug-in of the entry
    point group ``karat.embedders``, or ``module:factory``. An option that the embedder does not
    know is refused.

    >>> create_embedder("granit")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no embedder named 'granit'; did you mean 'granite'?
    """
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
