"""Data files beside the code: lists of words, and queries of grammars.

They are in folders called ``queries`` and ``word_lists``, so that whoever hashes the code of a
package finds them.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

FOLDERS = ("queries", "word_lists")
COMMENT = "#"


def read_data(package: str, name: str) -> str:
    """Return the text of the file *name*, a path below *package*."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def read_lines(package: str, name: str) -> tuple[str, ...]:
    """Return the lines of the file *name*; empty lines and comments are left out."""
    lines = map(str.strip, read_data(package, name).splitlines())
    return tuple(line for line in lines if line and not line.startswith(COMMENT))


def read_sections(package: str, name: str) -> dict[str, tuple[str, ...]]:
    """Return the lines of the file *name* below each title in brackets, without comments."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line in read_lines(package, name):
        if line.startswith("[") and line.endswith("]"):
            title = line[1:-1]
        else:
            sections.setdefault(title, []).append(line)
    return {title: tuple(lines) for title, lines in sections.items()}


def read_words(package: str, name: str) -> tuple[str, ...]:
    """Return the words of the file *name*, separated by white space, without comments."""
    return tuple(word for line in read_lines(package, name) for word in line.split())


def code_files(package: str) -> Iterator[Traversable]:
    """Yield the modules directly in *package*, and its data files, in a fixed order."""
    folder = files(package)
    inside = (entry for name in FOLDERS for entry in _entries(folder.joinpath(name)))
    yield from (entry for entry in _entries(folder) if entry.name.endswith(".py"))
    yield from inside


def _entries(folder: Traversable) -> list[Traversable]:
    entries = folder.iterdir() if folder.is_dir() else ()
    return sorted((entry for entry in entries if entry.is_file()), key=lambda entry: entry.name)
