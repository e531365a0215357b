"""Engines that behave, and engines that do not; the query says when."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from karat.corpus import Corpus
from karat.engines.base import RetrievalResult
from karat.errors import EngineError
from karat.model import Hit

if TYPE_CHECKING:
    # Only one engine needs it, and the tests start a process for each of the others.
    import numpy as np
    from numpy.typing import NDArray

NEVER = threading.Event()


class Good:
    """Finds every document, in the order of their paths."""

    name = "good"
    thread_safe = True

    def __init__(self, note: str = "") -> None:
        self.note = note
        self.paths: list[str] = []

    def index(self, corpus: Corpus) -> None:
        self.paths = [document.path for document in corpus]
        self.write("index")

    def search(self, query: str, k: int) -> Sequence[Hit]:
        self.write(query)
        return self.found(query)[:k]

    def found(self, query: str) -> Sequence[Hit]:
        return [Hit(path, 1.0 / rank) for rank, path in enumerate(self.paths, 1)]

    def write(self, line: str) -> None:
        if self.note:
            with Path(self.note).open("a") as file:
                file.write(f"{os.getpid()} {line}\n")


class Slow(Good):
    """Tells how far its indexing is, and goes on when the file *go* is there."""

    def __init__(self, go: str) -> None:
        super().__init__()
        self.go = Path(go)

    def watch(self, progress: Callable[[int, int], None] | None) -> None:
        self.progress = progress

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        assert self.progress
        self.progress(0, 2)
        # Too soon after the one before.
        self.progress(1, 2)
        while not self.go.exists():
            time.sleep(0.01)

    def search(self, query: str, k: int) -> Sequence[Hit]:
        assert self.progress
        # Not while it is indexed, so that nobody listens.
        self.progress(2, 2)
        return super().search(query, k)


class Bad(Good):
    """Does what the first word of the query says."""

    def found(self, query: str) -> Sequence[Hit]:
        act = getattr(self, query.split(maxsplit=1)[0], None)
        if act:
            act()
        return super().found(query)

    def hang(self) -> None:
        NEVER.wait()

    def deaf(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(60)

    def leave(self) -> None:
        sys.stderr.write("out of ideas\n")
        os._exit(7)

    def crash(self) -> None:
        ctypes.string_at(0)

    def fail(self) -> None:
        raise ValueError("no such word")

    def late(self) -> None:
        raise EngineError("the service took too long") from TimeoutError()

    def chatter(self) -> None:
        sys.stdout.write('{"hits": {}}\n')
        sys.stdout.flush()
        subprocess.run([sys.executable, "-c", "print('noise')"], check=True)

    def children(self) -> None:
        """Start a program in a session of its own, as adapters do, and then hang."""
        program = "import time; time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
        self.write(f"child {child.pid}")
        NEVER.wait()

    def interrupt(self) -> None:
        """Press Ctrl-C in the middle of a search."""
        os.kill(os.getppid(), signal.SIGINT)
        NEVER.wait()

    def leak(self) -> None:
        self.kept = b"x" * 200_000_000


class Eager(Bad):
    """Hears what will be asked, and does then what the second word of a query says."""

    def expect(self, queries: Sequence[str]) -> None:
        self.write(f"expect {' '.join(sorted(queries))}")
        for query in queries:
            words = query.split()
            if words[0] == "ahead":
                getattr(self, words[1])()


class Waiting(Good):
    """Answers nothing as long as a file is missing."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file

    def found(self, query: str) -> Sequence[Hit]:
        if not Path(self.file).exists():
            raise EngineError("the service is down")
        return super().found(query)


class Held(Good):
    """Answers the first queries at once, and every further one when a file is there."""

    def __init__(self, file: str, first: int) -> None:
        super().__init__()
        self.file = file
        self.first = first

    def found(self, query: str) -> Sequence[Hit]:
        self.first -= 1
        while self.first < 0 and not Path(self.file).exists():
            time.sleep(0.01)
        return super().found(query)


class Unready(Good):
    """Cannot index."""

    def index(self, corpus: Corpus) -> None:
        raise EngineError("no room for an index")


class Mortal(Good):
    """Dies while indexing."""

    def index(self, corpus: Corpus) -> None:
        os._exit(9)


class Fickle(Good):
    """Answers "dice" in another order each time."""

    def found(self, query: str) -> Sequence[Hit]:
        hits = list(super().found(query))
        if query == "dice":
            self.turn = not getattr(self, "turn", False)
            hits = hits[::-1] if self.turn else hits
        return hits


class Sloppy(Good):
    """Returns places that do not exist, and one of them twice."""

    def found(self, query: str) -> Sequence[Hit]:
        if query == "nonsense":
            return "auth.py"  # type: ignore[return-value]
        return [Hit("auth.py", 1.0, 9, 2), Hit("gone.py"), Hit("auth.py"), Hit("auth.py")]


class Chunks(Good):
    """Finds many places in each file."""

    def found(self, query: str) -> Sequence[Hit]:
        places = [(path, line) for path in self.paths for line in (1, 2)]
        return [Hit(path, 1.0 / n, line, line) for n, (path, line) in enumerate(places, 1)]


class Remembering:
    """An agent that is slow with a query that it has not seen since it was reset."""

    def __init__(self, note: str = "") -> None:
        self.note = note
        self.seen: set[str] = set()

    def initialize(self, repo_path: str) -> None:
        self.files = sorted(path.name for path in Path(repo_path).iterdir())

    def retrieve(self, query: str) -> RetrievalResult:
        cold = query not in self.seen
        self.seen.add(query)
        if cold:
            until = time.perf_counter() + 0.02
            while time.perf_counter() < until:
                pass
        return RetrievalResult(self.files, metadata={"total_tokens": 30, "cost": 0.25})

    def reset(self) -> None:
        self.seen.clear()


class Inventive(Remembering):
    """An agent that names a file which does not exist."""

    def retrieve(self, query: str) -> RetrievalResult:
        return RetrievalResult(["gone.py", *self.files])


class Streaming(Remembering):
    """Yields its files one by one."""

    def retrieve(self, query: str) -> Iterator[RetrievalResult]:  # type: ignore[override]
        for file in self.files:
            yield RetrievalResult([file])


class Queue(Good):
    """Serves one query after the other, each a hundredth of a second."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = threading.Lock()

    def found(self, query: str) -> Sequence[Hit]:
        with self.turn:
            until = time.perf_counter() + 0.01
            while time.perf_counter() < until:
                time.sleep(0)
        if query == "refused":
            raise EngineError("refused")
        return super().found(query)


class Crowded(Bad):
    """Cannot bear another one of its kind in the same process."""

    here = 0

    def __init__(self, note: str = "") -> None:
        super().__init__(note)
        type(self).here += 1

    def crowd(self) -> None:
        if self.here > 1:
            os._exit(3)

    def spite(self) -> None:
        """Keep the others waiting, and die without them."""
        if self.here == 1:
            os._exit(3)
        self.slow()

    def slow(self) -> None:
        NEVER.wait(1.1 * (self.here - 1))


class Overlap:
    """A reranker: how many words of the query a text holds."""

    name = "overlap"
    weight = 0.5

    def __init__(self, _: str) -> None:
        pass

    def scores(self, query: str, texts: Sequence[str]) -> "NDArray[np.float64]":
        import numpy as np

        return np.array([sum(word in text for word in query.split()) for text in texts], float)
