"""Embedders turn texts into vectors: their base class, their names, and the default."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from karat.errors import EngineError, InputError, UnknownName
from karat.registry import Registry, call_if_there, check_has

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


class Usage(NamedTuple):
    """Requests, texts, tokens and cost so far; *cost* is None without a price."""

    requests: int
    retries: int
    texts: int
    tokens: int
    cost: float | None


class Embedder(ABC):
    """Turns texts into vectors whose inner product is the similarity of the texts.

    The contract, which ``karat.testing.EmbedderSuite`` checks:

    - one float32 row per text, in order, of length 1; no texts give no rows;
    - a text without anything to embed, such as blanks, gives a row of zeros;
    - any text will do: what is past ``max_tokens`` is not looked at;
    - a row depends on its text and *kind* only, not on the texts beside it; that of a query is the
      same bit for bit.

    ``digest`` names the weights and every setting that changes a vector, so that a cached vector is
    used only if the embedder would return it again. All that is not abstract has a default.
    """

    # The name that reports show.
    name: str
    digest: str
    # How many tokens of a text count, None if unknown.
    max_tokens: int | None = None
    # Texts to embed in one call: more for an embedder with several connections.
    texts_at_once: int = 1
    # Whether each call is a request to a service, which may cost money.
    is_remote: bool = False
    # Whether ``token_vectors`` is there.
    has_token_vectors: bool = False

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Return the length of a row; a remote embedder may need a request for it."""

    @abstractmethod
    def embed(self, texts: Sequence[str], kind: Kind = "document") -> "Vectors":
        """Return one row per text."""

    def token_vectors(
        self,
        texts: Sequence[str],  # noqa: ARG002 - for a subclass
        kind: Kind = "document",  # noqa: ARG002
    ) -> "Sequence[Vectors]":
        """Return, for each text, one row of length 1 per token; no rows for an empty text."""
        raise EngineError(f"{self.name}: this embedder has no token vectors")

    def too_long(self, texts: Sequence[str]) -> Sequence[bool] | None:  # noqa: ARG002
        """Return for each text whether some of it is past ``max_tokens``; None if unknown."""
        return None

    @property
    def usage(self) -> Usage | None:
        """Return what was posted so far; None for an embedder that posts nothing."""
        return None

    def metadata(self) -> "Mapping[str, object]":
        """Return the tokens and the cost of this thread's last ``embed``, if there were any."""
        return {}

    def close(self) -> None:
        """Release connections; calling it twice is allowed."""
        return


class ForeignEmbedder(Embedder):
    """An embedder of someone else: what it lacks has the default."""

    def __init__(self, embedder: Any) -> None:
        """Wrap *embedder*; InputError names what every embedder must have."""
        # Not its dimension, for which it may need a request.
        check_has(embedder, ("name", "digest", "embed"), kind="embedder")
        self.name: str = embedder.name
        self.digest: str = embedder.digest
        self.max_tokens = getattr(embedder, "max_tokens", None)
        self.is_remote = hasattr(embedder, "texts_at_once")
        self.texts_at_once = getattr(embedder, "texts_at_once", 1)
        self.has_token_vectors = callable(getattr(embedder, "token_vectors", None))
        self._embedder = embedder

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        dimension: int = self._embedder.dimension
        return dimension

    @property
    def usage(self) -> Usage | None:
        """Return what the embedder has posted so far."""
        return getattr(self._embedder, "usage", None)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> "Vectors":
        """Return the embedder's row of each text."""
        rows: Vectors = self._embedder.embed(texts, kind)
        return rows

    def token_vectors(self, texts: Sequence[str], kind: Kind = "document") -> "Sequence[Vectors]":
        """Return the embedder's rows of each text."""
        if not self.has_token_vectors:
            return super().token_vectors(texts, kind)
        rows: Sequence[Vectors] = self._embedder.token_vectors(texts, kind)
        return rows

    def too_long(self, texts: Sequence[str]) -> Sequence[bool] | None:
        """Return what the embedder says of each text."""
        long: Sequence[bool] | None = call_if_there(self._embedder, "too_long", texts)
        return long

    def metadata(self) -> "Mapping[str, object]":
        """Return what the embedder reports about its last call."""
        return call_if_there(self._embedder, "metadata") or {}

    def close(self) -> None:
        """Close the embedder if it can be closed."""
        call_if_there(self._embedder, "close")


def as_embedder(target: object) -> Embedder:
    """Return *target*, of whatever class, as an embedder with all methods."""
    return target if isinstance(target, Embedder) else ForeignEmbedder(target)


EMBEDDERS: Registry[Callable[..., Embedder]] = Registry("embedder", {})
# By the name of a model whose weights a package has: the modules of its runtime and its weights.
# The aliases are the names of these models on the Hugging Face hub; the best model comes first.
PACKAGED: Registry[Sequence[str]] = Registry("packaged_model", {})
# Functions that say where the models of a library compute: "cuda in bfloat16", "" if it is absent.
HARDWARE: Registry[Callable[[], str]] = Registry("hardware", {})


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
    return as_embedder(factory(argument, **options))


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
    call_if_there(factory, "check", argument)


def missing_modules(model: str) -> tuple[str, ...]:
    """Return the modules that the packaged *model* needs and this environment lacks."""
    return tuple(name for name in PACKAGED.get(model) if find_spec(name) is None)
