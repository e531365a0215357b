"""The plain scan for words: the lines that hold one, found by ripgrep or in Python."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.engines.lexical.stopwords import STOP_WORDS
from karat.errors import EngineError

__all__ = ["Line", "by_ripgrep", "in_texts", "keywords", "ripgrep"]

WORD = re.compile(r"\w{2,}")
NOT_FOUND = 1
# A path may hold anything but the zero that ends it.
ROW = re.compile(rb"([^\0]+)\0([0-9]+):(.*)\n")
# What one command line may hold: Windows takes 32,767 characters, Linux and macOS at least 2^18.
MOST_CHARACTERS = 30_000 if os.name == "nt" else 250_000


class Line(NamedTuple):
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
    return [word for word in words if word.lower() not in STOP_WORDS]


def ripgrep() -> str | None:
    """Return where ripgrep is, None where it is not installed."""
    # Installed with pip it stands beside Python, which need not be on the path.
    return shutil.which("rg") or shutil.which("rg", path=Path(sys.executable).parent)


def in_texts(
    texts: Mapping[str, str], words: Sequence[str], *, cased: bool = False
) -> Iterator[Line]:
    r"""Yield the lines of *texts*, by path, that hold one of *words*, in any case unless *cased*.

    >>> list(in_texts({"a.py": "import re\nparse_URL(text)"}, ["url"]))
    [Line(path='a.py', number=2, text='parse_URL(text)')]
    """
    if not words:
        return
    found = re.compile("|".join(map(re.escape, words))).search
    for path, text in texts.items():
        if not found(text if cased else text.lower()):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if found(line if cased else line.lower()):
                yield Line(path, number, line)


def by_ripgrep(
    program: str,
    folder: Path,
    words: Sequence[str],
    *,
    files: Mapping[str, str],
    cased: bool = False,
) -> Iterator[Line]:
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
            yield Line(files[name], int(number), text.decode("utf-8", "replace"))


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
