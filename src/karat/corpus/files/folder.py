"""A corpus from a folder on disk."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.chunkers.definitions import language_of
from karat.corpus.files.content import MAX_BYTES, Intake, decode, look_at, max_bytes_of, text_of
from karat.corpus.git.objects import blob_id
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError
from karat.system.files import no_folder

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


__all__ = ["IGNORE_FILES", "IgnoreRules", "from_folder", "is_ignored"]

# The later file has precedence, so that a project can search files that Git ignores.
IGNORE_FILES = (".gitignore", ".ignore")


class _Pattern(NamedTuple):
    regex: re.Pattern[str]
    ignores: bool
    folders_only: bool


class IgnoreRules:
    """The patterns of one folder's ignore files, *base* being that folder ("" for the root).

    *above* is the way from a folder above the root down to the root, for the files found there.

    >>> rules = IgnoreRules("", ["*.log", "!keep.log", "build/"])
    >>> rules.verdict("a.log", folder=False), rules.verdict("src/keep.log", folder=False)
    (True, False)
    >>> rules.verdict("build", folder=True), rules.verdict("build", folder=False)
    (True, None)
    """

    def __init__(self, base: str, lines: Iterable[str], *, above: str = "") -> None:
        """Compile *lines*; comments, blank lines and patterns without meaning are left out."""
        self._cut = len(base) + 1 if base else 0
        self._above = f"{above}/" if above else ""
        self._by_path: list[tuple[int, _Pattern]] = []
        self._by_name: list[tuple[int, _Pattern]] = []
        self._names: dict[tuple[str, bool], tuple[int, bool] | None] = {}
        for order, line in enumerate(lines):
            # Asked for here, because pathspec takes "a/**/" for "a/".
            folders_only = line.rstrip().endswith("/")
            text = line.rstrip()[:-1] if folders_only else line
            pattern = _compiled(text)
            if pattern is None or pattern.include is None or pattern.regex is None:
                continue
            found = _Pattern(pattern.regex, pattern.include, folders_only)
            # A slash before its end anchors a pattern to its folder; any other matches the name
            # alone, so its result is cached by name.
            tied = "/" in text
            (self._by_path if tied else self._by_name).append((order, found))
        self._by_path.reverse()
        self._by_name.reverse()

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Return whether *path* is ignored, or None if no pattern matches it."""
        name = path[path.rfind("/") + 1 :]
        key = (name, folder)
        if key in self._names:
            best = self._names[key]
        else:
            best = self._names[key] = _last(self._by_name, name, folder)
        if self._by_path:
            other = _last(self._by_path, self._above + path[self._cut :], folder)
            if other and (best is None or other[0] > best[0]):
                best = other
        return best[1] if best else None


def is_ignored(path: str, *, folder: bool, rules: Sequence[IgnoreRules]) -> bool:
    """Return whether *path* is ignored by *rules*, which go from the root to its own folder."""
    for level in reversed(rules):
        verdict = level.verdict(path, folder=folder)
        if verdict is not None:
            return verdict
    return False


def _last(
    patterns: Sequence[tuple[int, _Pattern]], subject: str, folder: bool
) -> tuple[int, bool] | None:
    for order, (regex, ignores, folders_only) in patterns:
        if (folder or not folders_only) and _matches(regex, subject):
            return order, ignores
    return None


def _matches(regex: re.Pattern[str], subject: str) -> bool:
    """Return whether *regex* matches *subject* itself, not one of the folders above it.

    pathspec marks with the group ``ps_d`` that a match ended at a folder's slash.
    """
    match = regex.search(subject)
    return match is not None and not ("ps_d" in regex.groupindex and match["ps_d"])


def _compiled(line: str) -> "GitIgnoreSpecPattern | None":
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        return GitIgnoreSpecPattern(line)
    except GitIgnorePatternError:
        # Git ignores a pattern that cannot match, such as a lone "!".
        return None


# Files that SQLite keeps beside an open database.
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
    folder up to the top of its repository included; a person's own Git settings are not, since they
    would give two people two snapshots of one tree. Names that start with a dot are left out unless
    *hidden*; ``.git`` always. A symbolic link is never followed: a target inside the folder has its
    own name there. Each skipped entry is counted once, a whole folder as one. Reading a file that
    changed after this call raises InputError.
    """
    root = Path(path).resolve()
    if not root.is_dir():
        raise InputError(no_folder(os.fspath(path)))
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

    def folder(self, start: str, rules: tuple[IgnoreRules, ...]) -> None:
        """Visit the folder *start* and all below it; a stack, since trees may be deep."""
        pending = [(start, rules)]
        while pending:
            base, rules = pending.pop()
            try:
                with os.scandir(f"{self._root}/{base}") as found:
                    entries = list(found)
            except OSError:
                self.intake.skip(_printable(base), "unreadable")
                continue
            if self._ignore:
                rules = _with_own(rules, base, entries)
            prefix = f"{base}/" if base else ""
            databases = _databases(entries)
            for database in databases:
                self.intake.skip(_printable(prefix + database), "database")
            pending += [
                (prefix + entry.name, rules)
                for entry in entries
                if entry.name not in databases and self._entry(entry, prefix + entry.name, rules)
            ]

    def _entry(self, entry: "os.DirEntry[str]", path: str, rules: tuple[IgnoreRules, ...]) -> bool:
        """Take the file *entry* or count why not; return whether it is a folder to visit."""
        if entry.name == ".git":
            return False
        if entry.is_symlink():
            self.intake.skip(_printable(path), "symlink")
            return False
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") and not self._hidden:
            self.intake.skip(_printable(path), "hidden")
        elif rules and is_ignored(path, folder=is_folder, rules=rules):
            self.intake.skip(_printable(path), "ignored")
        elif is_folder:
            return True
        elif not entry.is_file(follow_symlinks=False):
            self.intake.skip(_printable(path), "special")
        else:
            self._file(entry, path)
        return False

    def _file(self, entry: "os.DirEntry[str]", path: str) -> None:
        try:
            path.encode()
        except UnicodeEncodeError:
            self.intake.skip(_printable(path), "name-not-utf-8")
            return
        try:
            if entry.stat(follow_symlinks=False).st_size > max_bytes_of(path, self._max_bytes):
                self.intake.skip(path, "too-large")
                return
            data = _bytes(entry.path)
        except OSError:
            self.intake.skip(path, "unreadable")
            return
        look = look_at(data, language_of(path))
        self.intake.add(path, blob_id(data), len(data), look=look)


class _Reader:
    """Reads documents from disk, and raises InputError for those that have changed."""

    def __init__(self, root: str) -> None:
        self.root = root

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        for document in documents:
            file = f"{self.root}/{document.path}"
            try:
                data = _bytes(file)
            except OSError as error:
                raise InputError(f"{file}: cannot be read any more: {error.strerror}") from error
            if blob_id(data) != (document.source or document.blob):
                raise InputError(f"{file}: changed since the snapshot; repeat the command")
            yield text_of(data, document)


def _printable(path: str) -> str:
    """Return *path* with escapes for bytes that are not UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _bytes(path: str) -> bytes:
    # A link put in place of the file since it was listed is not followed either.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb", buffering=0) as stream:
        return stream.read()


def _databases(entries: Iterable["os.DirEntry[str]"]) -> set[str]:
    """Return the names of open SQLite databases and of the files beside them.

    None of them may be read: the system drops every lock that this process has on a file when it
    closes it once, and the next process to leave the database would take away what this one, if
    the store is its own, still needs.
    """
    names = {entry.name for entry in entries}
    beside = {name for name in names if name.endswith(BESIDE) and name[: -len(BESIDE[0])] in names}
    return beside | {name[: -len(BESIDE[0])] for name in beside}


def _with_own(
    rules: tuple[IgnoreRules, ...], base: str, entries: Iterable["os.DirEntry[str]"]
) -> tuple[IgnoreRules, ...]:
    """Return *rules* with those of the ignore files among *entries* added."""
    ignore_files = {
        e.name: e.path for e in entries if e.name in IGNORE_FILES and not e.is_symlink()
    }
    lines = [
        line
        for name in IGNORE_FILES
        if name in ignore_files
        for line in _patterns(ignore_files[name])
    ]
    return (*rules, IgnoreRules(base, lines)) if lines else rules


def _patterns(path: str) -> list[str]:
    try:
        return decode(_bytes(path)).text.split("\n")
    except OSError:
        return []


def _rules_above(root: Path) -> tuple[IgnoreRules, ...]:
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
            rules.append(IgnoreRules("", lines, above=root.relative_to(folder).as_posix()))
    return tuple(rules)
