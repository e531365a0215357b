"""Embeddings behind an HTTP endpoint that speaks OpenAI's format: OpenAI, Voyage, Ollama, vLLM."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from threading import Lock
from time import sleep as wait
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.base import Kind
from karat.engines.embedding.texts import Vectors, embed_distinct, unit
from karat.errors import EngineError, InputError, MissingExtra

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState


__all__ = ["Poster", "RemoteEmbedder", "Usage", "openai", "read_answer", "retry_after_s"]

SHOWN = 80


def read_answer(
    answer: "httpx.Response", *, texts: int, dimension: int | None, where: str
) -> tuple[NDArray[np.float32], int]:
    """Return one row for each of so many *texts*, and the tokens that the endpoint counted."""
    body = _json(answer, where)
    items = body.get("data") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise EngineError(f"{where}: the answer holds no list 'data'")
    if len(items) != texts:
        raise EngineError(f"{where}: {len(items)} embeddings came back; expected {texts}")
    rows: list[Any] = [None] * texts
    for position, item in enumerate(items):
        number = item.get("index", position) if isinstance(item, dict) else None
        if not isinstance(number, int) or not 0 <= number < texts or rows[number] is not None:
            raise EngineError(
                f"{where}: data[{position}].index is missing, repeated or not below {texts}"
            )
        rows[number] = item.get("embedding")
    return _matrix(rows, dimension, where), _tokens(body)


def _json(answer: "httpx.Response", where: str) -> Any:
    text = answer.text
    if text.lstrip()[:1] == "<":
        raise EngineError(
            f"{where}: the answer is a web page, not JSON ({' '.join(text.split())[:SHOWN]!r}); "
            "expected the address of an API, which often ends in /v1"
        )
    try:
        return answer.json()
    except ValueError as error:
        raise EngineError(f"{where}: the answer is not JSON: {text[:SHOWN]!r}") from error


def _matrix(rows: list[Any], dimension: int | None, where: str) -> NDArray[np.float32]:
    try:
        matrix = np.array(rows, dtype=np.float32)
    except (TypeError, ValueError):
        matrix = np.empty(0, np.float32)
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise EngineError(f"{where}: the embeddings are not lists of numbers of one length")
    if dimension is not None and matrix.shape[1] != dimension:
        raise EngineError(
            f"{where}: the embeddings have {matrix.shape[1]} dimensions; expected {dimension}"
        )
    if not np.isfinite(matrix).all():
        raise EngineError(f"{where}: an embedding holds a number that is not finite")
    return matrix


def _tokens(body: dict[str, Any]) -> int:
    """Return the tokens that the endpoint reports; 0 if it reports none."""
    usage = body.get("usage")
    used = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else 0
    return used if isinstance(used, int) and used > 0 else 0


FIRST_WAIT_S = 1.0
EXCERPT_LENGTH = 200


class Busy(Exception):
    """A failure that a retry may fix; *wait_s* is the delay that the endpoint requests."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class Poster:
    """Posts JSON to *url*; status 429 and 5xx and lost connections are tried again.

    Between attempts it waits as long as ``Retry-After`` says, else twice as long each time. An
    endpoint that asks for more than *longest_wait_s* is not waited for.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        timeout_s: float,
        attempts: int,
        longest_wait_s: float,
        sleep: Callable[[float], None],
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        """Open no connection yet."""
        import httpx
        import tenacity

        self.url = url
        self.requests = 0
        self.retries = 0
        self._longest_wait_s = longest_wait_s
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout_s, headers=headers, transport=transport)
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Busy),
            stop=tenacity.stop_after_attempt(attempts),
            wait=self._wait_s,
            sleep=sleep,
            reraise=True,
        )

    def post(self, body: dict[str, object]) -> "httpx.Response":
        """Return the answer to *body*; raise EngineError if all retries fail."""
        sent = 0

        def attempt() -> "httpx.Response":
            nonlocal sent
            sent += 1
            self.requests += 1
            self.retries += sent > 1
            return self._send(body)

        try:
            return self._retrying(attempt)
        except Busy as error:
            raise EngineError(f"{self.url}: {error}, after {sent} attempts") from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, body: dict[str, object]) -> "httpx.Response":
        import httpx

        try:
            answer = self._client.post(self.url, json=body)
        except httpx.TransportError as error:
            raise Busy(f"no answer ({type(error).__name__}: {error})") from error
        status = answer.status_code
        if status == 429 or status >= 500:
            asked = retry_after_s(answer.headers.get("Retry-After"), datetime.now(UTC))
            if asked is not None and asked > self._longest_wait_s:
                raise EngineError(
                    f"{self.url}: status {status}, and it asks to wait {asked:.0f} s; "
                    f"expected at most {self._longest_wait_s:.0f} s"
                )
            raise Busy(f"status {status}: {_shown(answer)}", asked)
        if status != 200:
            raise EngineError(f"{self.url}: status {status}: {_shown(answer)}")
        return answer

    def _wait_s(self, state: "RetryCallState") -> float:
        problem = state.outcome.exception() if state.outcome else None
        if isinstance(problem, Busy) and problem.wait_s is not None:
            return problem.wait_s
        doubled: float = FIRST_WAIT_S * 2 ** (state.attempt_number - 1)
        return min(doubled, self._longest_wait_s)


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` asks for, None where it is missing or unreadable.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> retry_after_s("2.5", now), retry_after_s("Thu, 01 Jan 2026 00:00:30 GMT", now)
    (2.5, 30.0)
    >>> retry_after_s("soon", now) is None
    True
    """
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())


def _shown(answer: "httpx.Response") -> str:
    text = " ".join(answer.text.split())
    return repr(text[:EXCERPT_LENGTH]) if text else "an empty answer"


OPENAI = "https://api.openai.com/v1"

# Whose key goes to which host; any other host gets the last one, never a key of OpenAI.
KEYS = {"api.openai.com": "OPENAI_API_KEY", "api.voyageai.com": "VOYAGE_API_KEY"}
OTHER_KEY = "KARAT_EMBEDDING_API_KEY"

# Hosts that embed queries and documents differently if the request names the kind.
TOLD_THE_KIND = {"api.voyageai.com"}

# A request may hold 2,048 texts and 300,000 tokens at OpenAI, 1,000 texts and 120,000 at Voyage.
TEXTS_A_REQUEST = 128
CHARACTERS_A_REQUEST = 200_000


class Usage(NamedTuple):
    """Requests, tokens and cost of an embedder so far; *cost* is None without a price."""

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
        """Return the length of a row; one request finds it if it was not configured."""
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
        """Return the usage so far."""
        cost = None if self._price is None else self._price * self._tokens / 1e6
        return Usage(self._poster.requests, self._poster.retries, self._texts, self._tokens, cost)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row of length 1 a text."""
        filled = any(text.strip() for text in texts)
        dimension = self.dimension if filled else self._dimension or 0

        def request(some: list[str]) -> Vectors:
            return np.concatenate([self._post(batch, kind) for batch in _batches(some, self._most)])

        return embed_distinct(texts, dimension, request)

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
