"""A connection to an MCP server: what says which, and the task that holds it open."""

import asyncio
import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator, model_validator

from karat.engines.adapters.child import Tail, timed_out
from karat.engines.adapters.command import check_pattern
from karat.engines.adapters.event_loop import LoopThread
from karat.engines.adapters.http import checked_url
from karat.engines.adapters.options import Seconds, json_template, literal_secrets
from karat.engines.adapters.quoted import last_words
from karat.engines.adapters.spawning import ProgramOptions, arguments, environment, found_program
from karat.engines.adapters.template import Secrets, check_template
from karat.errors import EngineError, InputError, KaratError

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["Connection", "McpOptions"]

NAMES = ("query", "k", "root")
# The SDK waits two seconds each for a server to leave, to obey and to be gone.
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
            raise ValueError("env belongs to command")
        if self.headers and not self.url:
            raise ValueError("headers belong to url")
        return self


class Connection:
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
        self._tail: Tail | None = None
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
                raise timed_out("starting the server", limit) from TimeoutError(limit)
            raise

    @property
    def alive(self) -> bool:
        """Return whether the connection is still held."""
        return not self._gone.is_set()

    def close(self) -> None:
        """Leave, and wait until the server is gone; the SDK ends it within a few seconds."""
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
        """Return *error* as one of Karat's, with what the server said last."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, KaratError):
            return error
        said = self._tail.text().strip() if self._tail is not None else ""
        hint = f"; it said {last_words(self._secrets.scrub(said))}" if said else ""
        return EngineError(f"cannot connect: {str(error) or type(error).__name__}{hint}")

    async def _check_tool(self, client: "Client") -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        if self._options.tool not in names:
            near = get_close_matches(self._options.tool, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names) or 'none'}"
            raise InputError(f"the server has no tool {self._options.tool!r}; {hint}")

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
        self._tail = Tail(os.fdopen(reading, "rb", buffering=0))
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
