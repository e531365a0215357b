"""``mcp``: a tool of an MCP server, over its standard streams or over HTTP."""

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from karat.corpus import Corpus
from karat.engines.adapters.answers import AnswerReader
from karat.engines.adapters.child import timed_out
from karat.engines.adapters.event_loop import LoopThread
from karat.engines.adapters.external import External, Reply
from karat.engines.adapters.mcp_connection import Connection, McpOptions
from karat.engines.adapters.quoted import excerpt
from karat.engines.adapters.template import Secrets, fill_value
from karat.engines.adapters.text_answers import PatternReader, json_document, mentioned
from karat.errors import EngineError, KaratError, MissingExtra
from karat.model import Hit

if TYPE_CHECKING:
    from mcp.types import CallToolResult

__all__ = ["McpEngine", "McpOptions"]


class McpEngine(External):
    """A tool of an MCP server, which is connected from ``index`` to ``close``.

    A server that goes away is connected again once per search. The tool's existence is checked
    when the corpus is indexed.
    """

    Options = McpOptions

    def __init__(self, options: McpOptions, *, environ: Mapping[str, str] | None = None) -> None:
        place = options.command[0] if options.command else urlsplit(options.url or "").hostname
        super().__init__(options.name or f"{os.path.basename(str(place))}:{options.tool}")  # noqa: PTH119
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
        self._server: Connection | None = None
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

    def _ask(self, query: str, k: int) -> Reply:
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
        """Return the tool's answer; a connection that is gone is made again once."""
        with self._turn:
            loop, server = self._loop, self._server
            if loop is None:
                raise EngineError(f"{self.name}: search before index")
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
        raise EngineError(f"{self.name}: the server went away twice")

    def _call(
        self, loop: LoopThread, server: "Connection", values: dict[str, object]
    ) -> "CallToolResult":
        from mcp import MCPError

        timeout_s = self._options.timeout_s
        try:
            return loop.run(server.client.call_tool(self._options.tool, values), timeout_s)
        except TimeoutError:
            raise EngineError(f"{self.name}: {timed_out('the tool', timeout_s)}") from TimeoutError(
                timeout_s
            )
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

    def _reply(self, result: "CallToolResult") -> Reply:
        text = "\n".join(
            entry for part in result.content if (entry := getattr(part, "text", None)) is not None
        )
        if result.is_error:
            raise EngineError(f"the tool answered an error: {excerpt(text)}")
        if len(text) > self._options.max_bytes:
            raise EngineError(f"the answer is longer than {self._options.max_bytes:,} bytes")
        answer: object = result.structured_content
        if isinstance(answer, Mapping) and _is_wrapped_text(answer):
            answer = None
        if answer is None and self._pattern is None and text.lstrip().startswith(("{", "[")):
            answer = json_document(text)
        # The protocol keeps what is said about an answer beside it.
        whole = {**(answer if isinstance(answer, Mapping) else {}), "_meta": result.meta}
        return Reply(self._hits(answer, text), {}, self._reader.spending(whole))

    def _hits(self, answer: object, text: str) -> list[Hit]:
        if self._pattern is not None:
            return self._pattern.hits(text)
        if answer is not None:
            return self._reader.hits(answer)
        places = self._places
        return [hit for hit in mentioned(text) if places and not places.resolve(hit.path)[1]]

    def _connected(self, loop: LoopThread) -> "Connection":
        try:
            return Connection(self._options, self._root, self._secrets, loop, environ=self._environ)
        except KaratError as error:
            raise type(error)(self._secrets.scrub(f"{self.name}: {error}")) from error.__cause__


def _is_wrapped_text(content: Mapping[str, object]) -> bool:
    """Say whether the structured answer is only the text again, as SDKs wrap a plain string."""
    return list(content) == ["result"] and isinstance(content["result"], str)
