"""Embeddings behind an HTTP endpoint that speaks OpenAI's format: OpenAI, Voyage, Ollama, vLLM."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from threading import Lock
from time import sleep as wait
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from karat.engines.embedding.answers import read_answer
from karat.engines.embedding.base import Kind
from karat.engines.embedding.posting import Poster
from karat.engines.embedding.texts import Vectors, embed_distinct, unit
from karat.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import httpx

__all__ = ["RemoteEmbedder", "Usage", "openai"]

OPENAI = "https://api.openai.com/v1"

# Whose key goes to which host; any other host gets the last one, never a key of OpenAI.
KEYS = {"api.openai.com": "OPENAI_API_KEY", "api.voyageai.com": "VOYAGE_API_KEY"}
OTHER_KEY = "KARAT_EMBEDDING_API_KEY"

# Hosts that embed queries and documents in two ways when they are told which it is.
TOLD_THE_KIND = {"api.voyageai.com"}

# A request may hold 2,048 texts and 300,000 tokens at OpenAI, 1,000 texts and 120,000 at Voyage.
TEXTS_A_REQUEST = 128
CHARACTERS_A_REQUEST = 200_000


class Usage(NamedTuple):
    """What an embedder has asked for so far; *cost* is None where no price was given."""

    requests: int
    retries: int
    texts: int
    tokens: int
    cost: float | None


class RemoteEmbedder:
    """Posts batches of texts to ``<url>/embeddings``.

    The endpoint may change its weights unseen; the digest holds the address, the model and the
    settings only. *price* is what a million tokens cost.
    """

    def __init__(
        self,
        model: str,
        poster: Poster,
        *,
        name: str,
        dimension: int | None = None,
        send_dimension: bool = False,
        prefixes: Mapping[Kind, str] | None = None,
        tell_kind: bool = False,
        max_characters: int = 32_000,
        price: float | None = None,
    ) -> None:
        """Embed with *model* through *poster*."""
        self._model = model
        self._poster = poster
        self._name = name
        self._dimension = dimension
        self._asked = {"dimensions": dimension} if send_dimension and dimension else {}
        self._prefixes = dict(prefixes or {})
        self._tell_kind = tell_kind
        self._most = max_characters
        self._price = price
        self._texts = self._tokens = 0
        self._lock = Lock()

    @property
    def name(self) -> str:
        """Return the specification that made it."""
        return self._name

    @property
    def dimension(self) -> int:
        """Return the length of a row; the endpoint is asked once where nobody has said it."""
        if self._dimension is None:
            self._dimension = self._post(["dimension"], "document").shape[1]
        return self._dimension

    @property
    def max_tokens(self) -> None:
        """Return None: the endpoint does not say."""
        return

    @property
    def digest(self) -> str:
        """Return the identity of address, model and settings."""
        settings = (self._poster.url, self._model, self._asked, sorted(self._prefixes.items()))
        more = (self._tell_kind, self._most)
        return sha256(repr((*settings, *more)).encode()).hexdigest()

    @property
    def usage(self) -> Usage:
        """Return what has been asked for so far."""
        cost = None if self._price is None else self._price * self._tokens / 1e6
        return Usage(self._poster.requests, self._poster.retries, self._texts, self._tokens, cost)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row of length 1 a text."""
        filled = any(text.strip() for text in texts)
        dimension = self.dimension if filled else self._dimension or 0

        def ask(some: list[str]) -> Vectors:
            return np.concatenate([self._post(batch, kind) for batch in _batches(some, self._most)])

        return embed_distinct(texts, dimension, ask)

    def close(self) -> None:
        """Close the connections."""
        self._poster.close()

    def _post(self, texts: list[str], kind: Kind) -> Vectors:
        prefix = self._prefixes.get(kind, "")
        body: dict[str, object] = {
            "model": self._model,
            "input": [prefix + text for text in texts],
            **self._asked,
        }
        if self._tell_kind:
            body["input_type"] = kind
        answer = self._poster.post(body)
        rows, tokens = read_answer(
            answer, texts=len(texts), dimension=self._dimension, where=self._poster.url
        )
        with self._lock:
            self._texts += len(texts)
            self._tokens += tokens
        return unit(rows)


def openai(
    argument: str,
    *,
    dimension: int | None = None,
    send_dimension: bool = False,
    prefixes: Mapping[Kind, str] | None = None,
    price: float | None = None,
    max_characters: int = 32_000,
    timeout_s: float = 60.0,
    attempts: int = 6,
    longest_wait_s: float = 60.0,
    environment: Mapping[str, str] = os.environ,
    sleep: Callable[[float], None] = wait,
    transport: "httpx.BaseTransport | None" = None,
) -> RemoteEmbedder:
    """Return the endpoint that *argument* names as ``model@url``; without a URL it is OpenAI's.

    The key comes from *environment*: OPENAI_API_KEY for OpenAI, VOYAGE_API_KEY for Voyage, and
    KARAT_EMBEDDING_API_KEY, where set, for any other host.
    """
    model, _, url = argument.rpartition("@") if "@http" in argument else (argument, "", OPENAI)
    host = urlsplit(url).hostname
    if not model or urlsplit(url).scheme not in {"http", "https"} or not host:
        raise InputError(
            f"openai:{argument}: expected openai:<model>@<url>, such as "
            f"openai:text-embedding-3-small@{OPENAI}"
        )
    variable = KEYS.get(host, OTHER_KEY)
    key = environment.get(variable, "")
    if host in KEYS and not key:
        raise InputError(f"openai:{argument}: {host} wants a key; set {variable}")
    try:
        poster = Poster(
            f"{url.rstrip('/')}/embeddings",
            key=key,
            timeout_s=timeout_s,
            attempts=attempts,
            longest_wait_s=longest_wait_s,
            sleep=sleep,
            transport=transport,
        )
    except ImportError as error:
        if isinstance(error, MissingExtra):
            raise
        package = error.name or "httpx"
        raise MissingExtra(package, extra="http", purpose="embedding over HTTP") from None
    return RemoteEmbedder(
        model,
        poster,
        name=f"openai:{argument}",
        dimension=dimension,
        send_dimension=send_dimension,
        prefixes=prefixes,
        tell_kind=host in TOLD_THE_KIND,
        max_characters=max_characters,
        price=price,
    )


def _batches(texts: list[str], most: int) -> Iterator[list[str]]:
    """Yield *texts*, each cut at *most* characters, in batches that an endpoint takes."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        cut = text[:most]
        full = len(batch) == TEXTS_A_REQUEST or characters + len(cut) > CHARACTERS_A_REQUEST
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(cut)
        characters += len(cut)
    if batch:
        yield batch
