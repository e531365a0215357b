"""``http``: a service that answers a request with JSON, at once or as a stream."""

import json
import os
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from pydantic import Field, field_validator, model_validator

from karat.corpus import Corpus
from karat.engines.adapters.answers import (
    AnswerOptions,
    AnswerReader,
    Secrets,
    excerpt,
    json_document,
)
from karat.engines.adapters.event_loop import LoopThread
from karat.engines.adapters.external import External, ExternalReply, timed_out
from karat.engines.placeholders import (
    SENSITIVE,
    check_template,
    fill,
    fill_value,
    json_template,
    literal_secrets,
    names_of,
)
from karat.errors import EngineError, MissingExtra
from karat.model import Hit

if TYPE_CHECKING:
    import ssl

    import httpx


# Some services send this as the last event, instead of JSON.
DONE = "[DONE]"


class StreamLine(NamedTuple):
    """The name of an event ("" for a plain line) and its data."""

    name: str
    data: str


async def limited_lines(chunks: AsyncIterator[bytes], max_bytes: int) -> AsyncIterator[str]:
    """Yield the lines of *chunks*; more than *max_bytes* in all is an error."""
    pending = bytearray()
    total = 0
    async for chunk in chunks:
        total += len(chunk)
        if total > max_bytes:
            raise EngineError(f"the answer is longer than {max_bytes:,} bytes")
        pending += chunk
        *lines, rest = pending.split(b"\n")
        pending = bytearray(rest)
        for line in lines:
            yield line.decode("utf-8", "replace").removesuffix("\r")
    if pending:
        yield pending.decode("utf-8", "replace")


async def events(lines: AsyncIterator[str], *, sse: bool) -> AsyncIterator[StreamLine]:
    """Yield server-sent events, or each line as one; comments, blanks and ``[DONE]`` are skipped.

    An event at the end of the stream is read even without the blank line after it.
    """
    name, data = "", list[str]()
    async for line in lines:
        if not sse:
            if line.strip():
                yield StreamLine("", line)
        elif not line:
            if data and data != [DONE]:
                yield StreamLine(name or "message", "\n".join(data))
            name, data = "", []
        else:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value
    if data and data != [DONE]:
        yield StreamLine(name or "message", "\n".join(data))


NAMES = ("query", "k", "root")


class HttpOptions(AnswerOptions):
    """A request: {query}, {k} and {root} stand in the URL (escaped there) and in the body.

    *body* is JSON, as a mapping or as a text that holds JSON. Headers and body take secrets from
    the environment: ``Authorization: Bearer {env:TOKEN}``, and so does *basic_auth*,
    ``{env:USER}:{env:PASSWORD}``. ``stream`` reads server-sent events
    (of the name *event*, where given) or JSON lines as they arrive. *cost_header* and
    *total_tokens_header* are headers of the answer that report what the query has cost. Redirects
    are followed within the same origin only.
    """

    url: str
    method: Literal["GET", "POST", "PUT"] | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    basic_auth: str | None = None
    body: dict[str, object] | list[object] | None = None
    stream: Literal["sse", "jsonl"] | None = None
    event: str | None = None
    cost_header: str | None = None
    total_tokens_header: str | None = None
    redirects: int = Field(default=3, ge=0, le=10)
    proxy: str | None = None

    @field_validator("url")
    @classmethod
    def _usable_url(cls, value: str) -> str:
        check_template(value, NAMES, env=True)
        if any(name in NAMES for name in names_of(urlsplit(value).netloc)):
            # Otherwise the text of a query could choose the host.
            raise ValueError("the host cannot depend on the query")
        return checked_url(value)

    @field_validator("headers")
    @classmethod
    def _no_secrets(cls, value: dict[str, str]) -> dict[str, str]:
        check_template(value, (), env=True)
        literal_secrets(value, "the header")
        return value

    @field_validator("basic_auth")
    @classmethod
    def _user_and_password(cls, value: str | None) -> str | None:
        if value is None:
            return None
        check_template(value, (), env=True)
        # A colon within {env:NAME} does not separate user and password.
        parts = re.fullmatch(r"((?:\{env:\w+\}|[^:{}])+):((?:.|\n)+)", value)
        if parts is None:
            raise ValueError("expected USER:PASSWORD, such as {env:USER}:{env:PASSWORD}")
        literal_secrets({"password": parts[2]}, "basic_auth's")
        return value

    @field_validator("body", mode="before")
    @classmethod
    def _json(cls, value: object) -> object:
        value = json_template(value)
        check_template(value, NAMES, env=True)
        if isinstance(value, Mapping):
            literal_secrets(value, "the body's")
        return value

    @model_validator(mode="after")
    def _asks(self) -> "HttpOptions":
        if "{query}" not in self.url and "{query}" not in json.dumps(self.body):
            raise ValueError("neither url nor body contains {query}")
        if self.body is not None and self.method == "GET":
            raise ValueError("method GET has no body")
        if self.event is not None and self.stream != "sse":
            raise ValueError("event needs stream: sse")
        if self.basic_auth and any(name.lower() == "authorization" for name in self.headers):
            raise ValueError("basic_auth and the header Authorization exclude each other; give one")
        for name in ("cost", "total_tokens"):
            if getattr(self, name) and getattr(self, f"{name}_header"):
                raise ValueError(f"{name} and {name}_header exclude each other; give one")
        return self


def checked_url(value: str) -> str:
    """Return *value*, or raise ValueError if it is not an address or contains a secret."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected an address that begins with http:// or https://")
    if parts.username is not None:
        raise ValueError("the address contains a password; use a header with {env:NAME}")
    for pair in parts.query.split("&"):
        key, _, entry = pair.partition("=")
        if SENSITIVE.search(key) and entry and "{" not in entry:
            raise ValueError(f"parameter {key!r} contains a secret; write {{env:NAME}} instead")
    return value


class HttpEngine(External):
    """A service that receives one request per query, over connections that stay open.

    A search ends within the time limit whatever the service does: the whole exchange is limited,
    not each read of it. Phases: ``headers`` and ``body`` of the answer, and for a stream
    ``first_hit``.
    """

    Options = HttpOptions

    def __init__(self, options: HttpOptions, *, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(options.name or str(urlsplit(options.url).hostname))
        self.strip_prefix = options.strip_prefix
        self.needs_directory = "{root}" in options.url or "{root}" in json.dumps(options.body)
        self._options = options
        self._secrets = Secrets(os.environ if environ is None else environ)
        self._reader = AnswerReader(options)
        self._root = ""
        self._loop: LoopThread | None = None
        self._client: httpx.AsyncClient | None = None

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - the service has its own
        try:
            import httpx
        except ImportError:
            raise MissingExtra("httpx", extra="http", purpose="the engine http") from None
        self._root = root
        expand = self._secrets.expand
        headers = {name: expand(value) for name, value in self._options.headers.items()}
        if self._options.basic_auth:
            headers["Authorization"] = f"Basic {self._encoded(self._options.basic_auth)}"
        proxy = expand(self._options.proxy) if self._options.proxy else None
        self._loop = LoopThread("http")
        self._client = httpx.AsyncClient(
            # Ignore .netrc and proxy variables: only the configuration counts.
            trust_env=False,
            proxy=proxy,
            timeout=self._options.timeout_s,
            verify=_certificates(self._options.url),
            headers={"Accept-Encoding": "identity", **headers},
        )

    def _encoded(self, basic_auth: str) -> str:
        """Return user and password as the header has them."""
        encoded = b64encode(self._secrets.expand(basic_auth).encode()).decode()
        self._secrets.hide(encoded, "basic_auth")
        return encoded

    def _stop(self) -> None:
        loop, client, self._loop, self._client = self._loop, self._client, None, None
        if loop is not None:
            if client is not None:
                loop.run(client.aclose())
            loop.close()

    def _ask(self, query: str, k: int) -> ExternalReply:
        import httpx

        if self._loop is None or self._client is None:
            raise EngineError(f"{self.name}: search was called before index")
        timeout_s = self._options.timeout_s
        try:
            return self._loop.run(self._exchange(self._client, query, k), timeout_s)
        except (TimeoutError, httpx.TimeoutException):
            raise timed_out(f"{self.name}:", timeout_s) from TimeoutError(timeout_s)
        except EngineError as error:
            # Not chained: the response may repeat secrets of the request.
            raise EngineError(self._secrets.scrub(f"{self.name}: {error}")) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            said = str(error) or type(error).__name__
            address = urlsplit(self._options.url).netloc
            message = self._secrets.scrub(f"{self.name}: no answer from {address}: {said}")
            raise EngineError(message) from None

    async def _exchange(self, client: "httpx.AsyncClient", query: str, k: int) -> ExternalReply:
        started = perf_counter_ns()
        response = await self._response(client, self._request(client, query, k))
        phases = {"headers": perf_counter_ns() - started}
        metadata: dict[str, object] = {}
        hits: Sequence[Hit]
        problem = None
        try:
            if response.status_code != 200:
                raise EngineError(await _refusal(response))
            if self._options.stream:
                hits = await self._streamed(response, started, phases, metadata)
            else:
                reply = self._reader.reply(json_document(await self._text(response)))
                hits, metadata, problem = reply.hits, dict(reply.metadata), reply.problem
        finally:
            await response.aclose()
        phases["body"] = perf_counter_ns() - started - phases["headers"]
        return ExternalReply(hits, phases, metadata | self._in_headers(response), problem)

    def _in_headers(self, response: "httpx.Response") -> dict[str, object]:
        """Return the metadata in the headers that the options name."""
        options = self._options
        named = {"cost": options.cost_header, "tokens": options.total_tokens_header}
        return {
            name: response.headers[header]
            for name, header in named.items()
            if header and header in response.headers
        }

    def _request(self, client: "httpx.AsyncClient", query: str, k: int) -> "httpx.Request":
        values = {"query": query, "k": str(k), "root": self._root}

        def get(name: str) -> str:
            return values[name] if name in values else self._secrets.get(name[4:])

        def escaped(name: str) -> str:
            return quote(get(name), safe="")

        body = self._options.body
        return client.build_request(
            self._options.method or ("POST" if body is not None else "GET"),
            fill(self._options.url, escaped),
            json=fill_value(body, get, k=k) if body is not None else None,
        )

    async def _response(
        self, client: "httpx.AsyncClient", request: "httpx.Request"
    ) -> "httpx.Response":
        """Return the answer after redirects, of which none may leave the origin."""
        for _ in range(self._options.redirects + 1):
            response = await client.send(request, stream=True)
            following = response.next_request
            if following is None:
                return response
            await response.aclose()
            if _origin(following.url) != _origin(request.url):
                address = following.url.copy_with(query=None, username=None, password=None)
                raise EngineError(f"redirects to another origin, {address}; use that address")
            request = following
        raise EngineError(f"redirects more than {self._options.redirects} times")

    async def _text(self, response: "httpx.Response") -> str:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._options.max_bytes:
                raise EngineError(f"the answer is longer than {self._options.max_bytes:,} bytes")
        text = body.decode("utf-8", "replace")
        if _is_html(response, text):
            raise EngineError(f"answered HTML, expected JSON: {excerpt(text)}")
        return text

    async def _streamed(
        self,
        response: "httpx.Response",
        started: int,
        phases: dict[str, int],
        metadata: dict[str, object],
    ) -> list[Hit]:
        """Return the hits; note in *phases* when the first came, in *metadata* what it costs."""
        if _is_html(response, ""):
            raise EngineError("answered HTML, expected a stream")
        hits: list[Hit] = []
        lines = limited_lines(response.aiter_bytes(), self._options.max_bytes)
        async for event in events(lines, sse=self._options.stream == "sse"):
            if self._options.event is None or event.name == self._options.event:
                entry = json_document(event.data)
                hits += self._reader.one(entry)
                metadata.update(self._reader.spending(entry, line=True))
                if hits and "first_hit" not in phases:
                    phases["first_hit"] = perf_counter_ns() - started
        return hits


def _certificates(url: str) -> "ssl.SSLContext | bool":
    if not url.startswith("https"):
        return True
    import ssl

    # Use the certificates that the system trusts, such as those of a company.
    return ssl.create_default_context()


def _origin(url: "httpx.URL") -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _is_html(response: "httpx.Response", text: str) -> bool:
    kind = response.headers.get("content-type", "")
    return "html" in kind or text.lstrip()[:15].lower().startswith(("<!doctype", "<html"))


async def _refusal(response: "httpx.Response") -> str:
    """Return one sentence about a failed request."""
    said = bytearray()
    async for chunk in response.aiter_bytes():
        said += chunk
        if len(said) > 2_000:
            break
    text = bytes(said[:2_000]).decode("utf-8", "replace").strip()
    what = f"answered {response.status_code} {response.reason_phrase}".rstrip()
    if wait := response.headers.get("retry-after"):
        what += f" (retry after {wait[:40]})"
    if _is_html(response, text):
        return f"{what}, with a page of HTML"
    return f"{what}: {excerpt(text)}" if text else what
