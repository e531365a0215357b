"""``process``: a program that stays running and answers JSON lines.

The protocol, one JSON object a line, each answer with the id of its request:

    -> {"id": 0, "op": "index", "root": "/path/of/the/corpus"}
    <- {"id": 0}
    -> {"id": 1, "op": "search", "query": "where is login", "k": 10}
    <- {"id": 1, "hits": [{"path": "src/auth.py", "start_line": 3, "end_line": 9, "score": 1.5}]}
    <- {"id": 1, "error": "what went wrong"}

An answer may report what it has cost: ``"tokens": 812, "cost": 0.0004``. The program should exit
when its standard input ends.
"""

import json
import os
import threading
from collections.abc import Mapping
from time import monotonic

from pydantic import field_validator

from karat.corpus import Corpus
from karat.engines.adapters.answers import AnswerReader, Seconds, Secrets, excerpt
from karat.engines.adapters.command import (
    SpawnOptions,
    arguments,
    environment,
    found_program,
    relative_hint,
)
from karat.engines.adapters.external import External, ExternalReply, timed_out
from karat.engines.placeholders import check_template
from karat.errors import EngineError, ProcessError
from karat.system.processes import ChildProcess, encode, last_words

FORM = "on one line (logs belong on standard error)"
# A program that has printed an invalid line may be about to end.
EXIT_S = 0.5


class ProcessOptions(SpawnOptions):
    """A program that reads requests; *index_timeout_s* is how long it may take to get ready."""

    index_timeout_s: Seconds = 600.0

    @field_validator("command")
    @classmethod
    def _only_the_root(cls, value: list[str]) -> list[str]:
        check_template(value, ("root",))
        return value


class ProcessEngine(External):
    """A program that stays running and answers JSON lines.

    It runs from ``index`` to ``close``. A program that dies is restarted once per search. One that
    prints invalid lines, too much or nothing is killed, and restarted by the next search. Searches
    take turns.
    """

    Options = ProcessOptions

    def __init__(
        self, options: ProcessOptions, *, environ: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(options.name or os.path.basename(options.command[0]))  # noqa: PTH119
        self.strip_prefix = options.strip_prefix
        self.restarts = 0
        self._options = options
        self._environ = environ
        self._secrets = Secrets(os.environ if environ is None else environ)
        self._reader = AnswerReader(options)
        self._root = ""
        self._program = ""
        self._child: ChildProcess | None = None
        self._number = 0
        self._turn = threading.Lock()

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - the root says it all
        self._root = root
        self._program = found_program(self._options, self._environ)
        with self._turn:
            try:
                self._child = self._started()
            except EOFError as error:
                raise EngineError(f"{self.name}: {error}") from None

    def _ask(self, query: str, k: int) -> ExternalReply:
        with self._turn:
            try:
                answer = self._searched(query, k)
            except EOFError as error:
                raise EngineError(
                    f"{self.name}: the process died, was restarted and died again; {error}"
                ) from None
            try:
                return self._reader.reply(answer)
            except EngineError as error:
                raise self._named(error) from None

    def _stop(self) -> None:
        with self._turn:
            child, self._child = self._child, None
        if child:
            child.close()

    def _searched(self, query: str, k: int) -> Mapping[str, object]:
        request: dict[str, object] = {"op": "search", "query": query, "k": k}
        timeout_s = self._options.timeout_s
        if self._child is not None:
            try:
                return self._request(self._child, request, timeout_s)
            except EOFError:
                self.restarts += 1
        self._child = self._started()
        return self._request(self._child, request, timeout_s)

    def _started(self) -> ChildProcess:
        try:
            child = ChildProcess(
                arguments(self._options, self._program, root=self._root),
                root=self._root,
                environment=environment(self._options, self._secrets, self._environ),
                max_bytes=self._options.max_bytes,
            )
        except ProcessError as error:
            raise self._named(error) from None
        request: dict[str, object] = {"op": "index", "root": self._root}
        try:
            self._request(child, request, self._options.index_timeout_s)
        except EngineError:
            # A program that returned an error is still running.
            self._kill(child)
            raise
        return child

    def _request(
        self, child: ChildProcess, request: dict[str, object], timeout_s: float
    ) -> Mapping[str, object]:
        """Return the answer of *child*; whenever there is none, the child is ended.

        EOFError says how a child ended that was not ended by this adapter.
        """
        self._number += 1
        try:
            deadline = monotonic() + timeout_s
            child.send(encode({"id": self._number, **request}), deadline)
            answer = self._answer(child, deadline)
        except TimeoutError:
            self._kill(child)
            error = (
                timed_out(f"{self.name}:", timeout_s)
                if request["op"] == "search"
                else timed_out(
                    f"{self.name}: indexing",
                    timeout_s,
                    limits="index_timeout_s in the engine's file",
                )
            )
            raise error from TimeoutError(timeout_s)
        except _InvalidLine as error:
            # The line may explain an exit: then report the exit instead of an invalid line.
            if child.exit_code(wait_s=EXIT_S) is not None:
                raise EOFError(self._end_reason(child, error.line)) from None
            self._kill(child)
            raise self._named(error) from None
        except (EngineError, ProcessError) as error:
            self._kill(child)
            raise self._named(error) from None
        except EOFError:
            raise EOFError(self._end_reason(child)) from None
        except BaseException:
            # Interrupted between request and answer: the next answer would be the wrong one.
            self._kill(child)
            raise
        if (complaint := answer.get("error")) is not None:
            raise self._named(EngineError(f"returned an error: {excerpt(str(complaint))}"))
        return answer

    def _answer(self, child: ChildProcess, deadline: float) -> Mapping[str, object]:
        line = child.receive(deadline)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or answer.get("id") != self._number:
            text = line.decode("utf-8", "replace")
            raise _InvalidLine(
                f"printed {excerpt(text)}; expected an object with id {self._number} {FORM}", text
            )
        return answer

    def _end_reason(self, child: ChildProcess, received: str = "") -> str:
        """Return how *child* ended, with the last lines that it wrote; *received* is one of them.

        Its output is read to the end before its pipes are closed.
        """
        reason = child.exit_reason(scrub=self._secrets.scrub)
        printed = self._secrets.scrub(f"{received}\n{child.output_tail()}").strip()
        self._kill(child)
        if printed:
            reason += f"; it printed {last_words(printed)}; expected JSON objects, each {FORM}"
        return f"{reason}{relative_hint(self._options, self._root)}"

    def _kill(self, child: ChildProcess) -> None:
        self._child = None
        child.kill()

    def _named(self, error: Exception) -> EngineError:
        return EngineError(self._secrets.scrub(f"{self.name}: {error}"))


class _InvalidLine(EngineError):
    """A program printed a line that is not an answer."""

    def __init__(self, message: str, line: str) -> None:
        super().__init__(message)
        self.line = line
