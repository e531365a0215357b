"""List the engines, check whether one of them works, and measure the overhead of its adapter."""

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from math import isclose, isnan
from statistics import median
from time import monotonic, perf_counter_ns
from typing import Any, NamedTuple

from karat.corpus import Corpus, from_texts
from karat.engines.adapters.external import AnswerProblem
from karat.engines.base import Engine, contract_violations
from karat.engines.context import check_context
from karat.engines.embedding.base import HARDWARE, check_model
from karat.engines.registry import ENGINES, PROFILE_ALIASES, modes, profile_named
from karat.engines.rerank import check_reranker
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError, KaratError, MissingExtra
from karat.installation import install_hint, package_hint
from karat.model import Hit
from karat.model.spec import Spec
from karat.model.timings import QueryCost, spent
from karat.system.words import range_text

__all__ = [
    "MODEL_KINDS",
    "PROFILE_ALIASES",
    "EngineCheck",
    "EngineListing",
    "Overhead",
    "check_engine",
    "check_model_choice",
    "first_difference",
    "list_engines",
    "named_engine",
    "overhead",
    "profile_named",
    "search_modes",
]

# Programs that find nothing: their latency is the overhead of an adapter.
NULL_PROCESS = """
import json, sys
for line in sys.stdin:
    print('{"id": %d, "hits": []}' % json.loads(line)["id"], flush=True)
"""
# It answers in one write; two would wait for a delayed acknowledgement, 40 ms each time.
NULL_HTTP = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")
    def log_message(self, *args):
        pass
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
NULL_MCP = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("null")
@server.tool()
def find(query: str) -> dict[str, list[str]]:
    return {"hits": []}
if len(sys.argv) > 1:
    import uvicorn
    app = server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
else:
    server.run("stdio")
"""
WARM_UP = 3
START_S = 30.0
SAMPLE = {
    "src/auth.py": "def login(user, password):\n    return user.check(password)\n",
    "src/mail.py": "def send(message):\n    print(message)\n",
    "docs/login.md": "# Login\n\nGive your user name and your password.\n",
}
SAMPLE_QUERY = "login password"
# Documents that are read for a test query; words of fewer letters are too common.
MOST_READ = 50
WORD = re.compile(r"[^\W\d_]{5,}")
# A body that arrives this long after its headers waited for a delayed TCP acknowledgement.
DELAYED_NS = (35_000_000, 60_000_000)


@dataclass(frozen=True, slots=True)
class EngineListing:
    """An engine by name: what it is, or what it lacks and how to get that."""

    name: str
    summary: str
    built_in: bool
    available: bool = True
    missing: str = ""
    install: str = ""


class Overhead(NamedTuple):
    """Nanoseconds per search of a no-op engine: the median and the 99th percentile of *calls*."""

    kind: str
    calls: int
    median_ns: int
    p99_ns: int


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """The result of checking an engine on a corpus.

    *broken* are violations of the contract of engines; *invalid* and *mended* count hits that were
    dropped or repaired, *dropped* has the first dropped paths by reason. *first_ns* is the first
    search, *median_ns* that of the others. *overhead* is that of its adapter, None for an engine in
    this process. *spent* has tokens and cost as the last search reported them. *problem* says why
    answers have no hits, or no paths. *on_sample* is set if the corpus is the built-in sample.
    """

    spec: Spec
    name: str
    corpus: str
    documents: int
    query: str
    hits: tuple[Hit, ...]
    broken: tuple[str, ...]
    invalid: Mapping[str, int]
    mended: Mapping[str, int]
    index_ns: int
    first_ns: int
    median_ns: int
    phases_ns: Mapping[str, int]
    overhead: Overhead | None
    spent: QueryCost
    warnings: tuple[str, ...] = ()
    problem: AnswerProblem | None = None
    on_sample: bool = False
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def is_adapter(self) -> bool:
        """Return whether the engine is the user's own, reached through an adapter."""
        return ENGINES.is_adapter(self.spec.name)

    @property
    def works(self) -> bool:
        """Return whether the contract is satisfied, and hits are found and not all dropped."""
        unreadable = self.problem is not None and self.problem.sure and not self.hits
        return not self.broken and not self.all_dropped and not unreadable

    @property
    def all_dropped(self) -> bool:
        """Return whether the engine returned hits of which none is valid."""
        return bool(self.invalid) and not self.hits


def list_engines() -> list[EngineListing]:
    """Return every engine that is registered, plug-ins included, built-in ones first."""
    return [_listing(name) for name in ENGINES]


def hardware() -> dict[str, str]:
    """Return where models compute here, by library; those that are not installed are left out."""
    named = {name: HARDWARE.get(name)() for name in HARDWARE}
    return {name: device for name, device in named.items() if device}


def _listing(name: str) -> EngineListing:
    built_in = name in ENGINES.built_in()
    try:
        info = ENGINES.info(name)
        lacking = bool(info.package) and find_spec(info.package) is None
        install = ""
        if lacking:
            install = install_hint(info.extra) if info.extra else package_hint(info.package)
        return EngineListing(
            name,
            info.summary or _summary(name),
            built_in,
            available=not lacking,
            missing=info.package if lacking else "",
            install=install,
        )
    except MissingExtra as error:
        _, _, install = str(error).partition(": ")
        missing = error.name or ""
        return EngineListing(name, "", built_in, available=False, missing=missing, install=install)
    except KaratError as error:
        return EngineListing(name, "", built_in, available=False, missing=str(error))


def _summary(name: str) -> str:
    """Return the first line of the engine's docstring, without its markup."""
    line = (ENGINES.get(name).__doc__ or "").strip().partition("\n")[0]
    line = line.removeprefix("Return ").replace("``", "").replace("*", "")
    return line[:1].upper() + line[1:]


def check_engine(
    spec: Spec | str | Mapping[str, object],
    *,
    corpus: Corpus | None = None,
    query: str | None = None,
    k: int = 10,
    repetitions: int = 5,
    calibrate: bool = True,
) -> EngineCheck:
    """Index *corpus*, search it, and return the hits; without one, search three small files.

    Without a *query* two words of a document in the middle of the corpus are asked.

    The search is repeated; an engine whose ranking then differs violates the contract.
    """
    if not isinstance(spec, Spec):
        spec = parse_spec(spec)
    if repetitions < 2:
        raise InputError(f"repetitions is {repetitions}; expected 2 or more")
    engine = build(spec)
    searched = from_texts(SAMPLE, name="sample") if corpus is None else corpus
    asked = query or (SAMPLE_QUERY if corpus is None else _words_of(corpus))
    try:
        done = _checked(
            spec, engine, searched, query=asked, k=k, repetitions=repetitions, calibrate=calibrate
        )
        return replace(done, on_sample=corpus is None)
    finally:
        engine.close()


def _words_of(corpus: Corpus) -> str:
    """Return the first two long words of a document, which an engine should find by them."""
    middle = len(corpus) // 2
    for document in corpus.documents[middle : middle + MOST_READ]:
        words = dict.fromkeys(word.lower() for word in WORD.findall(corpus.read(document.path)))
        if words:
            return " ".join(list(words)[:2])
    return SAMPLE_QUERY


def _checked(
    spec: Spec,
    engine: Engine,
    corpus: Corpus,
    *,
    query: str,
    k: int,
    repetitions: int,
    calibrate: bool,
) -> EngineCheck:
    started = perf_counter_ns()
    engine.index(corpus)
    index_ns = perf_counter_ns() - started
    answers: list[tuple[Hit, ...]] = []
    times: list[int] = []
    bodies: list[int] = []
    phases: Mapping[str, int] = {}
    for _ in range(repetitions):
        started = perf_counter_ns()
        answers.append(tuple(engine.search(query, k)))
        times.append(perf_counter_ns() - started)
        phases = engine.phases_ns()
        bodies.append(phases.get("body", 0))
    # Before the contract is checked by further searches.
    metadata = engine.metadata()
    invalid = _counts(engine, "invalid", repetitions)
    mended = _counts(engine, "mended", repetitions)
    problem = getattr(engine, "problem", None)
    return EngineCheck(
        spec=spec,
        name=engine.name,
        corpus=corpus.name,
        documents=len(corpus),
        query=query,
        hits=answers[0],
        broken=tuple(_broken(engine, corpus, answers, k)),
        invalid=invalid,
        mended=mended,
        index_ns=index_ns,
        first_ns=times[0],
        median_ns=int(median(times[1:])),
        phases_ns=phases,
        overhead=overhead(spec.name, spec.params) if calibrate else None,
        spent=spent(metadata),
        warnings=tuple(_warnings(answers[0], invalid, bodies, problem)),
        problem=problem,
        dropped=getattr(engine, "dropped", {}),
    )


def _counts(engine: Any, name: str, repetitions: int) -> dict[str, int]:
    """Return the counts of one search; every repetition has counted the same."""
    counted = getattr(engine, name, {})
    return {reason: -(-count // repetitions) for reason, count in counted.items()}


def _broken(engine: Engine, corpus: Corpus, answers: list[tuple[Hit, ...]], k: int) -> list[str]:
    broken = contract_violations(answers[0], corpus, k)
    differences = (first_difference(answers[0], answer, k) for answer in answers[1:])
    if difference := next(filter(None, differences), ""):
        broken.append(f"not deterministic: two identical queries returned {difference}")
    if engine.search("", k):
        broken.append("an empty query returned hits")
    return broken


# Sums of floats in another order differ by less; see also math.isclose.
SCORE_TOLERANCE = 1e-6


def first_difference(before: Sequence[Hit], after: Sequence[Hit], k: int) -> str:
    """Return how two answers to one query differ at the first rank where they do, "" if nowhere.

    Scores are compared with a relative tolerance of 1e-6, and hits with equal scores may change
    places. Hits that tie with the last of *k* hits may be others: the engine has to cut somewhere.

    >>> before = [Hit("a.py", 0.3), Hit("b.py", 0.2), Hit("c.py", 0.2)]
    >>> first_difference(before, [Hit("a.py", 0.1 + 0.2), before[2], before[1]], k=10)
    ''
    >>> first_difference(before, [before[1], before[0], before[2]], k=10)
    'different hits, first at rank 1: a.py (score 0.3) and b.py (score 0.2)'
    """
    if len(before) != len(after):
        return f"{len(before)} and {len(after)} hits"
    start = 0
    for end in range(1, len(before) + 1):
        if end < len(before) and _close(before[end - 1].score, before[end].score):
            continue
        tied = [_location(hit) for hit in before[start:end]]
        for rank in range(start, end):
            first, second = before[rank], after[rank]
            both_missing = isnan(first.score) and isnan(second.score)
            known = _location(second) in tied
            # A tie with the last of k hits may be broken either way.
            same_hit = known or end == len(before) == k
            if not (same_hit and (both_missing or _close(first.score, second.score))):
                what = "scores" if _location(first) == _location(second) else "hits"
                pair = f"{_shown(first)} and {_shown(second)}"
                return f"different {what}, first at rank {rank + 1}: {pair}"
            if known:
                tied.remove(_location(second))
        start = end
    return ""


def _close(first: float, second: float) -> bool:
    return isclose(first, second, rel_tol=SCORE_TOLERANCE)


def _location(hit: Hit) -> tuple[object, ...]:
    """Return all of *hit* but its score."""
    return (hit.path, *hit[2:])


def _shown(hit: Hit) -> str:
    lines = range_text(hit.path, hit.start_line, hit.end_line)
    return f"{lines} (score {hit.score:.10g})"


def _warnings(
    hits: tuple[Hit, ...],
    invalid: Mapping[str, int],
    bodies: list[int],
    problem: AnswerProblem | None = None,
) -> list[str]:
    warnings = []
    if not hits and not invalid and not problem:
        warnings.append("no hits; try another --query or --corpus")
    if bodies and DELAYED_NS[0] <= median(bodies) <= DELAYED_NS[1]:
        warnings.append(
            f"the body arrives {median(bodies) / 1e6:.0f} ms after the headers, because the "
            "service writes them separately (delayed acknowledgement). This is not search time: "
            "let the service write both at once, or set TCP_NODELAY."
        )
    return warnings


def search_modes() -> dict[str, tuple[str, ...]]:
    """Return the components of each search mode.

    >>> search_modes()["hybrid"]
    ('lexical', 'dense')
    """
    return {mode: tuple(info.components) for mode, info in modes().items()}


# The kinds of models that a service can offer to its benchmarks.
MODEL_KINDS: Mapping[str, Callable[[str], None]] = {
    "model": check_model,
    "reranker": check_reranker,
    "context": check_context,
}


def check_model_choice(kind: str, spec: str) -> None:
    """Raise InputError for a *spec* that cannot be a model of *kind*; nothing is loaded or sent."""
    MODEL_KINDS[kind](spec)


def named_engine(name: str, given: str | Mapping[str, object]) -> Spec:
    """Return the engine *given* under *name*, built once to check it; InputError where it is wrong.

    Redirects are not followed by default.
    """
    try:
        spec = parse_spec(given)
        # Errors name it as requests do; a service on the network must not redirect requests.
        usual: dict[str, object] = {"name": name} if ENGINES.is_adapter(spec.name) else {}
        if spec.name == "http":
            usual |= {"redirects": 0}
        spec = replace(spec, params={**usual, **spec.params})
        build(spec)
    except (InputError, EngineError, MissingExtra) as error:
        raise InputError(f"engine {name!r}: {error}") from error
    return spec


def overhead(kind: str, params: Mapping[str, object], *, calls: int = 50) -> Overhead | None:
    """Return the overhead of the adapter *kind* on this machine; None for engines in this process.

    A latency is the search plus this. For ``command`` it is the start of the smallest program
    that there is, and the time that the searching program needs to start comes on top.
    """
    if kind == "mcp" and params.get("url"):
        kind = "mcp over HTTP"
    if kind not in NULLS:
        return None
    with NULLS[kind]() as config:
        engine: Any = build(config)
        try:
            engine.index(from_texts({"a.txt": "null"}))
            samples = sorted([_timed(engine) for _ in range(WARM_UP + calls)][WARM_UP:])
        finally:
            engine.close()
    return Overhead(kind, len(samples), samples[len(samples) // 2], samples[-1 - calls // 100])


def _timed(engine: Any) -> int:
    started = perf_counter_ns()
    engine.search("null", 1)
    return perf_counter_ns() - started


@contextmanager
def _http_service() -> Iterator[dict[str, object]]:
    # In a separate process: two threads of one interpreter would wait for each other.
    command = [sys.executable, "-I", "-S", "-c", NULL_HTTP]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        try:
            port = process.stdout.readline().strip() if process.stdout else b""
            if not port.isdigit():
                raise EngineError("the no-op HTTP service did not start")
            yield {"engine": "http", "url": f"http://127.0.0.1:{int(port)}/?q={{query}}"}
        finally:
            process.kill()


@contextmanager
def _mcp_service() -> Iterator[dict[str, object]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", NULL_MCP, str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - ours
        try:
            deadline = monotonic() + START_S
            while not _listens(port):
                if process.poll() is not None or monotonic() > deadline:
                    raise EngineError("the no-op MCP server did not start")
            yield {"engine": "mcp", "url": f"http://127.0.0.1:{port}/mcp", "tool": "find"}
        finally:
            process.kill()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _command() -> AbstractContextManager[dict[str, object]]:
    smallest = [shutil.which("true") or sys.executable]
    return nullcontext({"engine": "command", "command": smallest, "output": "jsonl"})


def _process() -> AbstractContextManager[dict[str, object]]:
    command = [sys.executable, "-I", "-S", "-c", NULL_PROCESS]
    return nullcontext({"engine": "process", "command": command})


def _mcp_stdio() -> AbstractContextManager[dict[str, object]]:
    command = [sys.executable, "-c", NULL_MCP]
    return nullcontext({"engine": "mcp", "command": command, "tool": "find"})


NULLS: Mapping[str, Callable[[], AbstractContextManager[dict[str, object]]]] = {
    "command": _command,
    "process": _process,
    "http": _http_service,
    "mcp": _mcp_stdio,
    "mcp over HTTP": _mcp_service,
}
