"""Search as with grep: which windows of lines hold the most different words of the query."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from karat.corpus import Corpus, from_texts
from karat.corpus.chunkers.base import lines_of
from karat.engines.adapters.external import External, ExternalReply
from karat.engines.hit_tokens import tokens
from karat.engines.lexical.tokens import stop_words
from karat.errors import EngineError, InputError
from karat.model import Hit

WORD = re.compile(r"\w{2,}")
NOT_FOUND = 1
# A path may contain any byte except NUL.
ROW = re.compile(rb"([^\0]+)\0([0-9]+):(.*)\n")
# The maximum length of a command line: 32,767 characters on Windows, at least 2^18 elsewhere.
MOST_CHARACTERS = 30_000 if os.name == "nt" else 250_000


class KeywordLine(NamedTuple):
    """A line that holds a word; lines count from 1."""

    path: str
    number: int
    text: str


def keywords(query: str, *, cased: bool = False) -> list[str]:
    """Return the different words of *query*, stop words left out; in lower case unless *cased*.

    >>> keywords("Where is the URL parsed, the url of a user?")
    ['url', 'parsed', 'user']
    """
    words = dict.fromkeys(WORD.findall(query if cased else query.lower()))
    stops = stop_words()
    return [word for word in words if word.lower() not in stops]


def ripgrep() -> str | None:
    """Return where ripgrep is, None where it is not installed."""
    # Installed with pip it stands beside Python, which need not be on the path.
    return shutil.which("rg") or shutil.which("rg", path=Path(sys.executable).parent)


def in_texts(
    texts: Mapping[str, str], words: Sequence[str], *, cased: bool = False
) -> Iterator[KeywordLine]:
    r"""Yield the lines of *texts*, by path, that hold one of *words*, in any case unless *cased*.

    >>> list(in_texts({"a.py": "import re\nparse_URL(text)"}, ["url"]))
    [KeywordLine(path='a.py', number=2, text='parse_URL(text)')]
    """
    if not words:
        return
    search_words = re.compile("|".join(map(re.escape, words))).search
    for path, text in texts.items():
        if not search_words(text if cased else text.lower()):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if search_words(line if cased else line.lower()):
                yield KeywordLine(path, number, line)


def by_ripgrep(
    program: str,
    folder: Path,
    words: Sequence[str],
    *,
    files: Mapping[str, str],
    cased: bool = False,
) -> Iterator[KeywordLine]:
    """Yield the lines of *files* in *folder* that hold one of *words*, in any case unless *cased*.

    *files* maps their names in the folder to the paths to give them. Which ones count was decided
    before, so ripgrep ignores none. It misses no line that :func:`in_texts` finds, but for words
    beyond ASCII in a file that is neither UTF-8 nor marked as UTF-16; and it takes a few letters
    for equal that are not, such as the two small sigmas.
    """
    if not words:
        return
    command = [
        *(program, "--no-config", "--no-ignore", "--hidden", "--text"),
        "--case-sensitive" if cased else "--ignore-case",
        *("--line-number", "--with-filename", "--null", "--no-heading", "--color", "never"),
        *("--fixed-strings", "--file", "-", "--"),
    ]
    patterns = "\n".join(words).encode()
    for batch in batches([f"./{name}" for name in files]):
        done = subprocess.run(  # noqa: S603
            [*command, *batch], cwd=folder, input=patterns, capture_output=True, check=False
        )
        if done.returncode > NOT_FOUND:
            reason = done.stderr.decode("utf-8", "replace").strip() or "no reason given"
            raise EngineError(f"ripgrep ended with {done.returncode}: {reason}")
        for path, number, text in ROW.findall(done.stdout):
            name = os.fsdecode(path).removeprefix("./")
            yield KeywordLine(files[name], int(number), text.decode("utf-8", "replace"))


def batches(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield *names* in runs that fit on a command line."""
    batch: list[str] = []
    size = 0
    for name in names:
        if batch and size + len(name) >= MOST_CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append(name)
        size += len(name) + 1
    if batch:
        yield batch


Scan = Callable[[Sequence[str]], Iterable[KeywordLine]]


class LineWindow(NamedTuple):
    """A run of lines of a file; they are numbered from 0."""

    path: str
    number: int


class KeywordEngine(External):
    """Grep: windows of lines, ranked by how many different words of the query they hold.

    Files are cut every *window* lines. A word counts inside a longer one, and in any case unless
    *case_sensitive*; the number of occurrences breaks ties, by less than one word in all, and then
    the order of the corpus. Nothing is indexed: each query reads all files, by ripgrep where it is
    installed, and else in Python, which keeps the texts in memory. Both give the same hits, but for
    words beyond ASCII in files that are neither UTF-8 nor UTF-16, which ripgrep does not find.
    """

    def __init__(self, *, window: int = 40, case_sensitive: bool = False) -> None:
        """Look for ripgrep; nothing is read yet."""
        if window < 1:
            raise InputError(f"keyword: window is {window}; expected a number of lines from 1 up")
        super().__init__("keyword")
        self.window = window
        self.case_sensitive = case_sensitive
        self.program = ripgrep()
        self.needs_directory = self.program is not None
        self._corpus = from_texts({})
        self._scan: Scan = partial(in_texts, {})

    def _start(self, corpus: Corpus, root: str) -> None:
        self._corpus = corpus
        if self._view is None or self.program is None:
            texts = {document.path: text for document, text in corpus.texts()}
            self._scan = partial(in_texts, texts, cased=self.case_sensitive)
            return
        names = {path: name for name, path in self._view.renamed.items()}
        files = {names.get(document.path, document.path): document.path for document in corpus}
        self._scan = partial(
            by_ripgrep, self.program, Path(root), files=files, cased=self.case_sensitive
        )

    def _ask(self, query: str, k: int) -> ExternalReply:
        cased = self.case_sensitive
        words = keywords(query, cased=cased)
        windows = count_words(self._scan(words), words, size=self.window, cased=cased)
        return ExternalReply(self._hits(windows, k))

    def _stop(self) -> None:
        self._corpus = from_texts({})
        self._scan = partial(in_texts, {})

    def _hits(self, windows: Mapping[LineWindow, Counter[str]], k: int) -> list[Hit]:
        scores = {window: score(counts) for window, counts in windows.items()}
        best = sorted(scores, key=lambda window: (-scores[window], window))[:k]
        return [self._hit(window, scores[window]) for window in best]

    def _hit(self, window: LineWindow, score: float) -> Hit:
        first = window.number * self.window
        lines = lines_of(self._corpus.read(window.path))[first : first + self.window]
        return Hit(window.path, score, first + 1, first + len(lines), tokens=tokens("".join(lines)))


def count_words(
    lines: Iterable[KeywordLine], words: Sequence[str], *, size: int, cased: bool = False
) -> dict[LineWindow, Counter[str]]:
    """Return how often each window of *size* lines holds which of *words*.

    >>> lines = [KeywordLine("a", 1, "Login the user"), KeywordLine("a", 2, "user_login")]
    >>> count_words(lines, ["login", "password"], size=40)
    {LineWindow(path='a', number=0): Counter({'login': 2})}
    """
    windows: dict[LineWindow, Counter[str]] = {}
    for line in lines:
        text = line.text if cased else line.text.lower()
        counts = {word: count for word in words if (count := text.count(word))}
        # ripgrep's equal letters are a few more than Python's.
        if counts:
            window = LineWindow(line.path, (line.number - 1) // size)
            windows.setdefault(window, Counter()).update(counts)
    return windows


def score(counts: Counter[str]) -> float:
    """Return the number of words, and a fraction that grows with their occurrences.

    >>> score(Counter(login=2, user=1))
    2.75
    """
    total = counts.total()
    return len(counts) + total / (total + 1)
