"""Embedders turn texts into vectors: their protocol, their names, and the default."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from karat.errors import EngineError, InputError, UnknownName
from karat.registry import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


Kind = Literal["document", "query"]
DEFAULT_EMBEDDER = "granite"


class PartlyEmbedded(EngineError):
    """Some requests failed; *rows* has the vectors of the texts whose requests succeeded."""

    def __init__(self, message: str, rows: "Mapping[str, Vectors]") -> None:
        super().__init__(message)
        self.rows = rows


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose inner product is the similarity of the texts.

    The contract, which ``karat.testing.EmbedderSuite`` checks:

    - one float32 row per text, in order, of length 1; no texts give no rows;
    - a text without anything to embed, such as blanks, gives a row of zeros;
    - any text will do: what is past ``max_tokens`` is not looked at;
    - a row depends on its text and *kind* only, not on the texts beside it; that of a query is the
      same bit for bit.

    ``digest`` names the weights and every setting that changes a vector, so that a cached vector is
    used only if the embedder would return it again.
    """

    @property
    def name(self) -> str:
        """Return the name that reports show."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        ...

    @property
    def max_tokens(self) -> int | None:
        """Return how many tokens of a text count, None if unknown."""
        ...

    @property
    def digest(self) -> str:
        """Return the identity of the weights and settings."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> "Vectors":
        """Return one row per text."""
        ...


@runtime_checkable
class SupportsTokenVectors(Protocol):
    """An embedder that also gives a vector for each token, for late interaction."""

    def token_vectors(self, texts: Sequence[str], kind: Kind = "document") -> "Sequence[Vectors]":
        """Return, for each text, one row of length 1 per token; no rows for an empty text."""
        ...


@runtime_checkable
class SupportsTooLong(Protocol):
    """An embedder that knows its tokens without embedding them."""

    def too_long(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return for each text whether some of it is past ``max_tokens``."""
        ...


@runtime_checkable
class SupportsManyTexts(Protocol):
    """An embedder that works on many texts at a time, such as one with several connections."""

    texts_at_once: int


class Usage(NamedTuple):
    """Requests, texts, tokens and cost so far; *cost* is None without a price."""

    requests: int
    retries: int
    texts: int
    tokens: int
    cost: float | None


@runtime_checkable
class SupportsUsage(Protocol):
    """An embedder that counts what it has posted, and its cost."""

    @property
    def usage(self) -> Usage:
        """Return the usage so far."""
        ...


@runtime_checkable
class SupportsCheck(Protocol):
    """A factory of models that can check its argument without loading or connecting anything."""

    def check(self, argument: str) -> None:
        """Raise InputError for an argument that cannot work, such as one whose key is missing."""
        ...


EMBEDDERS: Registry[Callable[..., Embedder]] = Registry("embedder", {})
# By the name of a model whose weights a package has: the modules of its runtime and its weights.
# The aliases are the names of these models on the Hugging Face hub; the best model comes first.
PACKAGED: Registry[Sequence[str]] = Registry("packaged_model", {})


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
    ``cohere:<model>``, ``voyage:<model>``, ``vllm:<model>@<url>``, ``tei:<url>``, one of another
    extension, ``module:factory``, or the hub id alone: ``BAAI/bge-m3`` is ``st:BAAI/bge-m3``. An
    option that the embedder does not know is rejected.
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


def embedder_named(name: str) -> str:
    """Return the specification of the embedder that a user calls *name*.

    A name of the hub whose weights are here is that of the packaged model; any other of the form
    ``owner/model`` is loaded by sentence-transformers. An unknown name raises an error.

    >>> embedder_named("json:loads"), embedder_named("BAAI/bge-m3")
    ('json:loads', 'st:BAAI/bge-m3')
    """
    if name == DEFAULT_EMBEDDER:
        return name
    if PACKAGED.is_alias(name):
        return PACKAGED.canonical(name)
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
    """Return whether the embedder *name* is a service that embeds on its own machine."""
    try:
        known = EMBEDDERS.canonical(name.partition(":")[0])
    except UnknownName:
        return False
    return bool(getattr(EMBEDDERS.get(known), "is_remote", False))


def check_model(name: str) -> None:
    """Raise InputError for a *name* that cannot be an embedder, before a model is loaded."""
    factory, argument = EMBEDDERS.split(embedder_named(name))
    checked: object = factory
    if isinstance(checked, SupportsCheck):
        checked.check(argument)


def missing_modules(model: str) -> tuple[str, ...]:
    """Return the modules that the packaged *model* needs and this environment lacks."""
    return tuple(name for name in PACKAGED.get(model) if find_spec(name) is None)
