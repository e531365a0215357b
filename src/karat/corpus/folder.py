"""A corpus from a folder, as it lies on disk."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from karat.corpus.blob_ids import blob_id
from karat.corpus.content import MAX_BYTES, decode
from karat.corpus.ignore import IGNORE_FILES, Rules, is_ignored
from karat.corpus.intake import Intake, look_at
from karat.corpus.languages import language_of
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError

__all__ = ["from_folder"]

# What SQLite puts beside a database as long as somebody has it open.
BESIDE = ("-wal", "-shm")


def from_folder(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    max_bytes: int = MAX_BYTES,
    hidden: bool = False,
    ignore: bool = True,
) -> Corpus:
    """Return the texts below *path*.

    ``.gitignore`` and ``.ignore`` files are obeyed (unless *ignore* is false), those above the
    folder up to the top of its repository included; a person's own Git settings are not, since
    they would give two people two snapshots of one tree. Names that start with a dot are left out
    unless *hidden*; ``.git`` always. A symbolic link is never followed: what it points to inside
    the folder is there under its own name. Each thing left out is counted once, a whole folder as
    one. A file that changes after this call is refused when it is read.
    """
    root = Path(path).resolve()
    if not root.is_dir():
        raise InputError(f"{path}: no such folder")
    walk = _Walk(str(root), max_bytes=max_bytes, hidden=hidden, ignore=ignore)
    walk.folder("", _rules_above(root) if ignore else ())
    return walk.intake.corpus(name or root.name, _Reader(str(root)))


class _Walk:
    def __init__(self, root: str, *, max_bytes: int, hidden: bool, ignore: bool) -> None:
        self.intake = Intake()
        self._root = root
        self._max_bytes = max_bytes
        self._hidden = hidden
        self._ignore = ignore

    def folder(self, start: str, rules: tuple[Rules, ...]) -> None:
        """Visit the folder *start* and all below it; a stack, since trees may be deep."""
        pending = [(start, rules)]
        while pending:
            base, rules = pending.pop()
            try:
                with os.scandir(f"{self._root}/{base}") as found:
                    entries = list(found)
            except OSError:
                self.intake.skip("unreadable")
                continue
            if self._ignore:
                rules = _with_own(rules, base, entries)
            prefix = f"{base}/" if base else ""
            databases = _databases(entries)
            for _ in databases:
                self.intake.skip("database")
            pending += [
                (prefix + entry.name, rules)
                for entry in entries
                if entry.name not in databases and self._entry(entry, prefix + entry.name, rules)
            ]

    def _entry(self, entry: "os.DirEntry[str]", path: str, rules: tuple[Rules, ...]) -> bool:
        """Take the file *entry* or count why not; return whether it is a folder to visit."""
        if entry.name == ".git":
            return False
        if entry.is_symlink():
            self.intake.skip("symlink")
            return False
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") and not self._hidden:
            self.intake.skip("hidden")
        elif rules and is_ignored(path, folder=is_folder, rules=rules):
            self.intake.skip("ignored")
        elif is_folder:
            return True
        elif not entry.is_file(follow_symlinks=False):
            self.intake.skip("special")
        else:
            self._file(entry, path)
        return False

    def _file(self, entry: "os.DirEntry[str]", path: str) -> None:
        try:
            path.encode()
        except UnicodeEncodeError:
            self.intake.skip("name-not-utf-8")
            return
        try:
            if entry.stat(follow_symlinks=False).st_size > self._max_bytes:
                self.intake.skip("too-large")
                return
            data = _bytes(entry.path)
        except OSError:
            self.intake.skip("unreadable")
            return
        look = look_at(data, language_of(path))
        self.intake.add(path, blob_id(data), len(data), look=look)


class _Reader:
    """Reads documents again from disk and refuses those that are no longer what they were."""

    def __init__(self, root: str) -> None:
        self.root = root

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        for document in documents:
            place = f"{self.root}/{document.path}"
            try:
                data = _bytes(place)
            except OSError as error:
                raise InputError(f"{place}: {error.strerror} since the snapshot") from error
            if blob_id(data) != document.blob:
                raise InputError(f"{place}: changed since the snapshot; take a new one")
            yield decode(data).text


def _bytes(path: str) -> bytes:
    # A link put in place of the file since it was listed is not followed either.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb", buffering=0) as stream:
        return stream.read()


def _databases(entries: Iterable["os.DirEntry[str]"]) -> set[str]:
    """Return the names of SQLite databases that are open somewhere, and of what lies beside them.

    None of them may be read: the system drops every lock that this process has on a file when it
    closes it once, and the next process to leave the database would take away what this one, if
    the store is its own, still needs.
    """
    names = {entry.name for entry in entries}
    beside = {name for name in names if name.endswith(BESIDE) and name[: -len(BESIDE[0])] in names}
    return beside | {name[: -len(BESIDE[0])] for name in beside}


def _with_own(
    rules: tuple[Rules, ...], base: str, entries: Iterable["os.DirEntry[str]"]
) -> tuple[Rules, ...]:
    """Return *rules* with those of the ignore files among *entries* added."""
    found = {e.name: e.path for e in entries if e.name in IGNORE_FILES and not e.is_symlink()}
    lines = [line for name in IGNORE_FILES if name in found for line in _patterns(found[name])]
    return (*rules, Rules(base, lines)) if lines else rules


def _patterns(path: str) -> list[str]:
    try:
        return decode(_bytes(path)).text.split("\n")
    except OSError:
        return []


def _rules_above(root: Path) -> tuple[Rules, ...]:
    """Return the rules of the folders above *root*, up to the top of its repository."""
    if (root / ".git").exists():
        return ()
    above = list(root.parents)
    tops = [index for index, folder in enumerate(above) if (folder / ".git").exists()]
    if not tops:
        return ()
    rules = []
    for folder in reversed(above[: tops[0] + 1]):
        files = [folder / name for name in IGNORE_FILES]
        lines = [line for file in files if file.is_file() for line in _patterns(str(file))]
        if lines:
            rules.append(Rules("", lines, above=root.relative_to(folder).as_posix()))
    return tuple(rules)
