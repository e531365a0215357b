"""A gold set of a few queries, engines that misbehave, and a watch over what they leave behind."""

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from karat.experiments.workers import (
    Configuration,
    RunEvent,
    SnapshotQueries,
    Source,
    all_queries_on,
)
from karat.model import Answer, Dataset, Query, Target
from karat.model.spec import Spec
from karat.model.timings import LatencySample
from tests.fork_server import ForkServer

TEXTS = {"auth.py": "def login():\n    pass\n", "mail.py": "def send():\n    pass\n"}


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``module:Class`` find the engines of this folder, in this process and in its workers."""
    monkeypatch.syspath_prepend(str(Path(__file__).with_name("programs")))


@pytest.fixture(autouse=True)
def nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fork_server: ForkServer
) -> Iterator[None]:
    """Fail a test that leaves a process, a descriptor or a temporary folder behind."""
    fork_server.start()
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    before = set(children()), descriptors()
    yield
    assert set(children()) - before[0] == set()
    assert list(place.iterdir()) == []
    assert descriptors() <= before[1]


@pytest.fixture
def ctrl_c(new_interpreters: None) -> Iterator[None]:
    """Let SIGINT interrupt; a shell has it ignored by what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def sleepy(ctrl_c: None) -> Iterator[None]:
    """Let SIGINT wake another thread than this one.

    So it is with one that comes when this thread is about to fall asleep, and not yet there.
    """
    ended = threading.Event()
    awake = threading.Thread(target=ended.wait)
    awake.start()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    ended.set()
    awake.join()


def children() -> list[int]:
    """Return the processes that this one has started or had forked, zombies included."""
    own = _started_by(os.getpid())
    servers = [pid for pid in own if _is_fork_server(pid)]
    return [pid for pid in own if pid not in servers] + [c for s in servers for c in _started_by(s)]


def _started_by(pid: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        # A thread may end while one looks.
        with suppress(FileNotFoundError, ProcessLookupError):
            found += map(int, file.read_text().split())
    return found


def _is_fork_server(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return b"fork_server.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def alive(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gold(*queries: str) -> Dataset:
    """Return a gold set; the id of a query is its text."""
    return Dataset.of([Query(text, text, (Target("auth.py"),)) for text in queries])


def toy(name: str, **options: object) -> Configuration:
    """Return a configuration of an engine in programs/toys.py."""
    params = {"class": f"toys:{name}", "options": options}
    return Configuration(name, Spec("engine", "python", params), k=5)


@pytest.fixture
def source() -> Source:
    return Source.of_texts(TEXTS)


@pytest.fixture
def snapshots(source: Source) -> Callable[[Dataset], tuple[SnapshotQueries, ...]]:
    """Return what snapshots one tree for a whole gold set."""
    return lambda dataset: all_queries_on(dataset, source, seed=0)


class Kept:
    """A sink and a listener that remember everything."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, Answer, LatencySample | None]] = []
        self.events: list[RunEvent] = []

    def on_answer(self, run: str, answer: Answer, sample: LatencySample | None) -> None:
        self.answers.append((run, answer, sample))

    def listen(self, event: RunEvent) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        """Return the kinds of all events, but not that indexing took long on this machine."""
        return [event.kind for event in self.events if event.kind != "indexing"]


@pytest.fixture
def kept() -> Kept:
    return Kept()
