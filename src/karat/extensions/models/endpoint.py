"""Endpoints of remote models: providers, specifications, keys, limits and prices.

A specification is ``<provider>:<model>@<url>?<option>=<value>&...``. The URL is optional where the
provider has one of its own, and the model where an endpoint serves only one (TEI).
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock, local
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from karat.engines.spec import validate_options
from karat.errors import EngineError, InputError
from karat.extensions.llm.http import Poster, RateLimit, has_user_info
from karat.model.timings import QueryCost

if TYPE_CHECKING:
    import httpx


class Provider(NamedTuple):
    """An API: its own address and the variable of its key, both empty for software to host."""

    name: str
    url: str = ""
    key_env: str = ""
    has_model: bool = True


OPENAI = Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
JINA = Provider("jina", "https://api.jina.ai/v1", "JINA_API_KEY")
COHERE = Provider("cohere", "https://api.cohere.com/v2", "COHERE_API_KEY")
VOYAGE = Provider("voyage", "https://api.voyageai.com/v1", "VOYAGE_API_KEY")
VLLM = Provider("vllm")
TEI = Provider("tei", has_model=False)
PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider for provider in (OPENAI, JINA, COHERE, VOYAGE, VLLM, TEI)
}
# A key goes to the host of its provider only, by https, unless key_env says otherwise.
KEYS = {urlsplit(each.url).hostname: each.key_env for each in PROVIDERS.values() if each.url}
HTTPS_PORT = 443


class EndpointOptions(BaseModel):
    """The options of every remote model; a price in any currency makes the cost of a query."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    key_env: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    batch: int | None = Field(default=None, ge=1, le=10_000)
    concurrency: int = Field(default=4, ge=1, le=64)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    price_per_million_tokens: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    attempts: int = Field(default=6, ge=1, le=100)
    longest_wait_s: float = Field(default=60.0, ge=0, le=3600)


Options = TypeVar("Options", bound=EndpointOptions)


class Endpoint(NamedTuple, Generic[Options]):
    """A parsed specification: *spec* is its text, *model* is empty where the URL has only one."""

    spec: str
    provider: Provider
    model: str
    url: str
    options: Options

    def key(self, other_env: str, environment: Mapping[str, str]) -> str:
        """Return the API key; *other_env* is the optional variable of hosts without a provider.

        InputError names the variable that is missing, and is raised too if the key of a provider
        would be sent to its host without https or at another port.
        """
        parts = urlsplit(self.url)
        host = parts.hostname
        is_safe = parts.scheme == "https" and parts.port in (None, HTTPS_PORT)
        if host in KEYS and not self.options.key_env and not is_safe:
            raise InputError(
                f"{self.spec}: {KEYS[host]} is sent only by https to port {HTTPS_PORT}; use "
                f"https://{host}{parts.path}, or name the variable of another key with key_env"
            )
        variable = self.options.key_env or KEYS.get(host, other_env)
        key = environment.get(variable, "")
        if not key and (self.options.key_env or host in KEYS):
            raise InputError(f"{self.spec}: {host} needs an API key; set {variable}")
        return key


def parse_endpoint(
    provider: str,
    argument: str,
    options: type[Options],
    given: Mapping[str, object] | None = None,
) -> Endpoint[Options]:
    """Return the endpoint that *argument*, the text after ``provider:``, describes.

    *given* are further options, which win over those of the text.

    >>> endpoint = parse_endpoint("vllm", "bge@http://gpu:8000/v1?batch=8", EndpointOptions)
    >>> endpoint.model, endpoint.url, endpoint.options.batch
    ('bge', 'http://gpu:8000/v1', 8)
    >>> parse_endpoint("jina", "m?bach=8", EndpointOptions)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: jina:m: no option 'bach'; did you mean 'batch'?
    """
    known, spec = PROVIDERS[provider], f"{provider}:{argument}"
    if has_user_info(argument):
        raise InputError(
            f"{provider}: the URL has a user name or a password, which would be shown in names and "
            "errors; put the key into KARAT_EMBEDDING_API_KEY or KARAT_RERANKER_API_KEY, or into "
            "the environment variable that key_env names"
        )
    text, _, query = argument.partition("?")
    model, url = _model_and_url(text, known)
    if (known.has_model and not model) or not _is_http(url):
        raise InputError(f"{provider}:{text}: expected {_form(known)}")
    pairs = parse_qsl(query, keep_blank_values=True)
    if len(dict(pairs)) < len(pairs):
        raise InputError(f"{provider}:{text}: an option is given twice")
    values = {**dict(pairs), **(given or {})}
    # Without the options: a key that was put there by mistake stays out of the message.
    checked = validate_options(options, values, what=f"{provider}:{text}")
    return Endpoint(spec, known, model, url.rstrip("/"), checked)  # type: ignore[arg-type]


def _model_and_url(text: str, provider: Provider) -> tuple[str, str]:
    if not provider.has_model and text.startswith(("http://", "https://")):
        return "", text
    model, is_given, rest = text.partition("@http")
    return model, f"http{rest}" if is_given else provider.url


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no valid IPv6 address or port
        return False


def _form(provider: Provider) -> str:
    name = provider.name
    if not provider.has_model:
        return f"{name}:<url>, such as {name}:http://localhost:8080"
    example = f"{name}:<model>@<url>, such as {name}:some-model@"
    return f"{example}{provider.url or 'http://localhost:8000/v1'}"


def open_poster(
    endpoint: Endpoint[Any],
    path: str,
    *,
    purpose: str,
    other_env: str,
    environment: Mapping[str, str] = os.environ,
    sleep: Callable[[float], None] = time.sleep,
    transport: "httpx.BaseTransport | None" = None,
) -> Poster:
    """Return a poster to *path* of *endpoint*; nothing is connected yet."""
    options = endpoint.options
    limits = options.requests_per_minute, options.tokens_per_minute
    limit = None
    if limits != (None, None):
        limit = RateLimit(requests_per_minute=limits[0], tokens_per_minute=limits[1], sleep=sleep)
    return Poster(
        f"{endpoint.url}{path}",
        key=endpoint.key(other_env, environment),
        timeout_s=options.timeout_s,
        attempts=options.attempts,
        longest_wait_s=options.longest_wait_s,
        sleep=sleep,
        purpose=purpose,
        limit=limit,
        transport=transport,
    )


CHARACTERS_PER_TOKEN = 4


def estimated_tokens(texts: Sequence[str]) -> int:
    """Return about how many tokens *texts* have, for a rate limit."""
    return sum(map(len, texts)) // CHARACTERS_PER_TOKEN + 1


def batches(
    texts: Sequence[str], *, most_texts: int, most_characters: int, cut: int
) -> Iterator[list[str]]:
    """Yield *texts*, each cut at *cut* characters, in batches that an endpoint accepts.

    >>> list(batches(["one", "two", "threes"], most_texts=2, most_characters=8, cut=5))
    [['one', 'two'], ['three']]
    """
    batch: list[str] = []
    characters = 0
    for text in texts:
        short = text[:cut]
        if batch and (len(batch) == most_texts or characters + len(short) > most_characters):
            yield batch
            batch, characters = [], 0
        batch.append(short)
        characters += len(short)
    if batch:
        yield batch


def by_index(items: object, field: str, *, count: int, noun: str, where: str) -> list[Any]:
    """Return the *field* of each of *items* at the index that the item names.

    EngineError is raised unless there are *count* items with each index from 0 once. *noun* names
    them in errors. An item without an index has that of its position.
    """
    if not isinstance(items, list):
        raise EngineError(f"{where}: the response has no list of {noun}")
    if len(items) != count:
        raise EngineError(f"{where}: the response has {len(items)} {noun}; expected {count}")
    values: dict[int, Any] = {}
    for position, item in enumerate(items):
        index = item.get("index", position) if isinstance(item, dict) else None
        if type(index) is not int or not 0 <= index < count or index in values:
            raise EngineError(
                f"{where}: {noun}[{position}].index is missing, repeated or not below {count}"
            )
        values[index] = item.get(field)
    return [values[index] for index in range(count)]


class Spending:
    """Counts what was posted in total, and what the last call of each thread has cost."""

    def __init__(self) -> None:
        """Start at 0."""
        self.texts = 0
        self.tokens = 0
        self.cost = 0.0
        self._lock = Lock()
        self._last = local()

    def add(self, *, texts: int, tokens: int, cost: float) -> None:
        """Count one request."""
        with self._lock:
            self.texts += texts
            self.tokens += tokens
            self.cost += cost

    def finish(self, call: QueryCost) -> None:
        """Store the cost of the call that ends in this thread."""
        self._last.call = call

    def metadata(self) -> dict[str, object]:
        """Return the tokens and the cost of this thread's last call, as an engine reports them."""
        call: QueryCost = getattr(self._last, "call", QueryCost())
        known = {"tokens": call.tokens, "cost": call.cost}
        return {name: value for name, value in known.items() if value is not None}
