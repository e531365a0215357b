"""The plain scan of files for words, by ripgrep where it is installed."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import EngineError, InputError

__all__ = ["Match", "scan", "scan_texts"]

NOT_FOUND = 1
# A path may hold anything but the zero that ends it.
ROW = re.compile("([^\0]+)\0([0-9]+):(.*)\n")


class Match(NamedTuple):
    """An occurrence of a *word* in a line, counted from 1."""

    path: str
    line: int
    word: str


def scan(folder: Path, words: Sequence[str], *, paths: Sequence[str]) -> list[Match]:
    """Return where *words* occur in the files *paths* of *folder*, in any case, sorted.

    Overlapping occurrences count once, the leftmost and then the longest word first.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no folder to scan")
    if not words or not paths:
        return []
    # Installed with pip it stands beside Python, which need not be on the path.
    program = shutil.which("rg") or shutil.which("rg", path=Path(sys.executable).parent)
    if program is None:
        texts = {path: (folder / path).read_text("utf-8", "replace") for path in paths}
        return sorted(scan_texts(texts, words))
    return sorted(by_ripgrep(program, folder, words, paths=paths))


def scan_texts(texts: Mapping[str, str], words: Sequence[str]) -> Iterator[Match]:
    """Yield where *words* occur in *texts* by path, as :func:`scan` does.

    >>> list(scan_texts({"a.py": "parse_URL(url)"}, ["url"]))
    [Match(path='a.py', line=1, word='url'), Match(path='a.py', line=1, word='url')]
    """
    pattern = re.compile("|".join(map(re.escape, longest_first(words))), re.IGNORECASE)
    for path, text in texts.items():
        for number, line in enumerate(text.split("\n"), start=1):
            for found in pattern.findall(line):
                yield Match(path, number, found.lower())


def longest_first(words: Sequence[str]) -> list[str]:
    """Return *words* in an order in which none hides a longer one that begins alike."""
    return sorted(set(words), key=lambda word: (-len(word), word))


def by_ripgrep(
    program: str, folder: Path, words: Sequence[str], *, paths: Sequence[str]
) -> Iterator[Match]:
    """Yield what ripgrep finds; which files count was decided before, so it ignores none."""
    command = [
        *(program, "--no-config", "--no-ignore", "--hidden", "--text", "--encoding", "none"),
        *("--ignore-case", "--only-matching", "--line-number", "--with-filename", "--null"),
        *("--no-heading", "--color", "never", "--no-messages"),
        *("--fixed-strings", *(f"--regexp={word}" for word in longest_first(words)), "--"),
    ]
    # Many files go in several calls, below every system's limit of arguments.
    for begin in range(0, len(paths), 1000):
        named = [f"./{path}" for path in paths[begin : begin + 1000]]
        done = subprocess.run([*command, *named], cwd=folder, capture_output=True, check=False)  # noqa: S603
        if done.returncode > NOT_FOUND:
            reason = done.stderr.decode("utf-8", "replace").strip() or "no reason given"
            raise EngineError(f"ripgrep ended with {done.returncode}: {reason}")
        for path, line, word in ROW.findall(done.stdout.decode("utf-8", "replace")):
            yield Match(path.removeprefix("./"), int(line), word.lower())
