"""``mcp``: a tool of an MCP server, over its standard streams or over HTTP."""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from karat.corpus import Corpus
from karat.engines.adapters.answers import (
    AnswerReader,
    PatternReader,
    Seconds,
    Secrets,
    excerpt,
    json_document,
    mentioned_paths,
)
from karat.engines.adapters.command import (
    ProgramOptions,
    arguments,
    check_pattern,
    environment,
    found_program,
)
from karat.engines.adapters.event_loop import LoopThread
from karat.engines.adapters.external import External, ExternalReply, timed_out
from karat.engines.adapters.http import checked_url
from karat.engines.placeholders import check_template, fill_value, json_template, literal_secrets
from karat.errors import EngineError, InputError, KaratError, MissingExtra
from karat.model import Hit
from karat.system.processes import StreamTail, last_words

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult


NAMES = ("query", "k", "root")
# The SDK waits two seconds for a server to exit, then again after each signal.
LONGEST_FAREWELL_S = 15.0


class McpOptions(ProgramOptions):
    """A server, by *command* (its standard streams) or *url* (streamable HTTP), and its *tool*.

    *arguments* of the tool hold {query} and {k}. The hits are found in the structured answer, or
    in a text that is JSON, by the JSONPaths; in any other text by *pattern*, or, without one, by
    the paths of the corpus that it mentions.
    """

    tool: str
    arguments: dict[str, object] = Field(default={"query": "{query}"})
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    pattern: str | None = None
    start_timeout_s: Seconds = 60.0

    @field_validator("arguments", mode="before")
    @classmethod
    def _json(cls, value: object) -> object:
        value = json_template(value)
        check_template(value, NAMES, env=True)
        if isinstance(value, Mapping):
            literal_secrets(value, "the argument")
        return value

    @field_validator("command")
    @classmethod
    def _only_the_root(cls, value: list[str]) -> list[str]:
        check_template(value, ("root",))
        return value

    @field_validator("url")
    @classmethod
    def _usable_url(cls, value: str | None) -> str | None:
        return checked_url(value) if value is not None else None

    @field_validator("headers")
    @classmethod
    def _no_header_secrets(cls, value: dict[str, str]) -> dict[str, str]:
        check_template(value, (), env=True)
        literal_secrets(value, "the header")
        return value

    @field_validator("pattern")
    @classmethod
    def _usable_pattern(cls, value: str | None) -> str | None:
        if value is not None:
            check_pattern(value)
        return value

    @model_validator(mode="after")
    def _one_server(self) -> "McpOptions":
        if bool(self.command) == bool(self.url):
            raise ValueError("expected either command or url")
        if self.url and self.env:
            raise ValueError("env needs command")
        if self.headers and not self.url:
            raise ValueError("headers need url")
        return self


class McpConnection:
    """A connection, held open by one task of the loop, which also closes it."""

    def __init__(
        self,
        options: McpOptions,
        root: str,
        secrets: Secrets,
        loop: LoopThread,
        *,
        environ: Mapping[str, str] | None,
    ) -> None:
        self._options = options
        self._root = root
        self._secrets = secrets
        self._loop = loop
        self._environ = environ
        self._tail: StreamTail | None = None
        self._leave = asyncio.Event()
        self._gone = threading.Event()
        self._ready: Future[Client] = Future()
        self._task = asyncio.run_coroutine_threadsafe(self._hold(), loop.loop)
        limit = options.start_timeout_s
        try:
            self.client = self._ready.result(limit)
        except BaseException as error:
            self.close()
            if isinstance(error, TimeoutError):
                raise timed_out(
                    "starting the server", limit, limits="start_timeout_s in the engine's file"
                ) from TimeoutError(limit)
            raise

    @property
    def alive(self) -> bool:
        """Return whether the connection is still held."""
        return not self._gone.is_set()

    def close(self) -> None:
        """Disconnect, and wait until the server has exited; the SDK kills it in the end."""
        if self._ready.done():
            self._loop.loop.call_soon_threadsafe(self._leave.set)
        else:
            self._task.cancel()
        self._gone.wait(LONGEST_FAREWELL_S)

    async def _hold(self) -> None:
        from mcp import Client

        try:
            async with AsyncExitStack() as stack:
                transport = self._transport(stack)
                client = await stack.enter_async_context(Client(transport, cache=None))
                await self._check_tool(client)
                self._ready.set_result(client)
                await self._leave.wait()
        except Exception as error:  # noqa: BLE001 - whatever the SDK's parts raise
            if not self._ready.done():
                self._ready.set_exception(self._told(error))
        finally:
            self._gone.set()

    def _told(self, error: BaseException) -> KaratError:
        """Return *error* as a KaratError, with the last error output of the server."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, KaratError):
            return error
        said = self._tail.text().strip() if self._tail is not None else ""
        hint = f"; its error output: {last_words(self._secrets.scrub(said))}" if said else ""
        return EngineError(f"cannot connect: {str(error) or type(error).__name__}{hint}")

    async def _check_tool(self, client: "Client") -> None:
        tools = {each.name: each for each in (await client.list_tools()).tools}
        tool = self._options.tool
        if tool not in tools:
            hint = _nearest(tool, list(tools))
            raise InputError(f"the server has no tool {tool!r}; {hint}")
        schema = tools[tool].input_schema
        known = schema.get("properties")
        # A tool without a list of arguments, or one that takes any, cannot be checked.
        if not isinstance(known, Mapping) or schema.get("additionalProperties"):
            return
        for name in self._options.arguments:
            if name not in known:
                hint = _nearest(name, list(known))
                raise InputError(f"the tool {tool!r} has no argument {name!r}; {hint}")

    def _transport(self, stack: AsyncExitStack) -> Any:
        if self._options.url:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            headers = {k: self._secrets.expand(v) for k, v in self._options.headers.items()}
            client = httpx2.AsyncClient(headers=headers, trust_env=False, timeout=None)
            stack.push_async_callback(client.aclose)
            return streamable_http_client(self._options.url, http_client=client)
        from mcp.client.stdio import StdioServerParameters, stdio_client

        program = found_program(self._options, self._environ)
        program, *rest = arguments(self._options, program, root=self._root)
        reading, writing = os.pipe()
        self._tail = StreamTail(os.fdopen(reading, "rb", buffering=0))
        stack.callback(self._tail.close)
        errors = os.fdopen(writing, "w")
        stack.callback(errors.close)
        parameters = StdioServerParameters(
            command=program,
            args=rest,
            env=environment(self._options, self._secrets, self._environ),
            cwd=self._root or None,
            encoding_error_handler="replace",
        )
        return stdio_client(parameters, errlog=errors)


class McpEngine(External):
    """A tool of an MCP server, which is connected from ``index`` to ``close``.

    A lost connection is opened again once per search. The tool's existence is checked when the
    corpus is indexed.
    """

    Options = McpOptions

    def __init__(self, options: McpOptions, *, environ: Mapping[str, str] | None = None) -> None:
        target = options.command[0] if options.command else urlsplit(options.url or "").hostname
        super().__init__(options.name or f"{os.path.basename(str(target))}:{options.tool}")  # noqa: PTH119
        self.strip_prefix = options.strip_prefix
        self.restarts = 0
        self._options = options
        self._environ = environ
        self._secrets = Secrets(os.environ if environ is None else environ)
        self._reader = AnswerReader(options)
        self._pattern = (
            PatternReader(options.pattern, first_line=options.first_line)
            if options.pattern is not None
            else None
        )
        self._root = ""
        self._loop: LoopThread | None = None
        self._server: McpConnection | None = None
        self._turn = threading.Lock()

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - the root says it all
        try:
            import mcp  # noqa: F401 - only whether it is there
        except ImportError:
            raise MissingExtra("mcp", extra="mcp", purpose="the engine mcp") from None
        self._root = root
        self._loop = LoopThread("mcp")
        self._server = self._connected(self._loop)

    def _stop(self) -> None:
        loop, server, self._loop, self._server = self._loop, self._server, None, None
        if server is not None:
            server.close()
        if loop is not None:
            loop.close()

    def _ask(self, query: str, k: int) -> ExternalReply:
        values = {"query": query, "k": str(k), "root": self._root}

        def get(name: str) -> str:
            return values[name] if name in values else self._secrets.get(name[4:])

        filled = fill_value(self._options.arguments, get, k=k)
        result = self._called(dict(filled) if isinstance(filled, Mapping) else {})
        try:
            return self._reply(result)
        except EngineError as error:
            raise EngineError(self._secrets.scrub(f"{self.name}: {error}")) from None

    def _called(self, values: dict[str, object]) -> "CallToolResult":
        """Return the tool's answer; reconnect once if the connection is lost."""
        with self._turn:
            loop, server = self._loop, self._server
            if loop is None:
                raise EngineError(f"{self.name}: search was called before index")
            if server is None:
                server = self._server = self._connected(loop)
        try:
            return self._call(loop, server, values)
        except ConnectionError:
            with self._turn:
                if self._server is server:
                    server.close()
                    self._server = None
                    self.restarts += 1
                    self._server = self._connected(loop)
                server = self._server
        try:
            if server is not None:
                return self._call(loop, server, values)
        except ConnectionError:
            pass
        raise EngineError(f"{self.name}: the server closed the connection twice")

    def _call(
        self, loop: LoopThread, server: "McpConnection", values: dict[str, object]
    ) -> "CallToolResult":
        from mcp import MCPError

        timeout_s = self._options.timeout_s
        try:
            return loop.run(server.client.call_tool(self._options.tool, values), timeout_s)
        except TimeoutError:
            raise timed_out(f"{self.name}:", timeout_s) from TimeoutError(timeout_s)
        except MCPError as error:
            if not server.alive or "closed" in str(error).lower():
                raise ConnectionError from None
            message = self._secrets.scrub(f"{self.name}: {excerpt(str(error))}")
            raise EngineError(message) from None
        except Exception as error:  # noqa: BLE001 - the SDK raises what its parts raise
            if not server.alive:
                raise ConnectionError from None
            message = self._secrets.scrub(f"{self.name}: {type(error).__name__}: {error}")
            raise EngineError(message) from None

    def _reply(self, result: "CallToolResult") -> ExternalReply:
        text = "\n".join(
            entry for part in result.content if (entry := getattr(part, "text", None)) is not None
        )
        if result.is_error:
            raise EngineError(f"the tool returned an error: {excerpt(text)}")
        if len(text) > self._options.max_bytes:
            raise EngineError(f"the answer is longer than {self._options.max_bytes:,} bytes")
        answer: object = result.structured_content
        if isinstance(answer, Mapping) and _is_wrapped_text(answer):
            answer = None
        if answer is None and self._pattern is None and text.lstrip().startswith(("{", "[")):
            answer = json_document(text)
        # The protocol has the metadata of an answer beside it.
        whole = {**(answer if isinstance(answer, Mapping) else {}), "_meta": result.meta}
        spending = self._reader.spending(whole)
        if answer is not None and self._pattern is None:
            return self._reader.reply(answer)._replace(metadata=spending)
        return ExternalReply(self._hits(text), {}, spending)

    def _hits(self, text: str) -> list[Hit]:
        if self._pattern is not None:
            return self._pattern.hits(text)
        paths = self._paths
        return [hit for hit in mentioned_paths(text) if paths and not paths.resolve(hit.path)[1]]

    def _connected(self, loop: LoopThread) -> "McpConnection":
        try:
            return McpConnection(
                self._options, self._root, self._secrets, loop, environ=self._environ
            )
        except KaratError as error:
            raise type(error)(self._secrets.scrub(f"{self.name}: {error}")) from error.__cause__


def _nearest(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}"


def _is_wrapped_text(content: Mapping[str, object]) -> bool:
    """Return whether the structured answer only repeats the text, as SDKs wrap a plain string."""
    return list(content) == ["result"] and isinstance(content["result"], str)
