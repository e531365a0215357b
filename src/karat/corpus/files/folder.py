"""A corpus from a folder or from texts in memory, and a folder with the documents of a corpus."""

import os
import re
import shutil
import stat
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.chunkers.grammars import language_of
from karat.corpus.files.content import (
    MAX_BYTES,
    Intake,
    Look,
    content_traits,
    decode,
    look_at,
    max_bytes_of,
    text_of,
)
from karat.corpus.snapshot import Corpus, Document, blob_id, delta
from karat.errors import InputError
from karat.system.files import no_folder

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


# The later file has precedence, so that a project can search files that Git ignores.
IGNORE_FILES = (".gitignore", ".ignore")
# Each folder beside a file of this name is an upload: rules of the folders above it do not apply.
# They belong to the checkout that a service happens to run in, which ignores the service's files.
UPLOADS_MARK = ".karat-uploads"
LONGEST_NAME = 255
LONGEST_PATH = 2_000
# Folder for documents whose paths cannot be file names.
ODD = "_odd"


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
            compiled = _Pattern(pattern.regex, pattern.include, folders_only)
            # A slash before its end anchors a pattern to its folder; any other matches the name
            # alone, so its result is cached by name.
            tied = "/" in text
            (self._by_path if tied else self._by_name).append((order, compiled))
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
    folder up to the top of its repository included, unless it is an upload to a service. A person's
    own Git settings are not obeyed, since they would give two people two snapshots of one tree.
    Names that start with a dot are left out unless *hidden*; ``.git`` always. A symbolic link is
    never followed: a target inside the folder has its own name there. Each skipped entry is counted
    once, a whole folder as one. Reading a file that changed after this call raises InputError.
    """
    root = Path(path).resolve()
    if not root.is_dir():
        raise InputError(no_folder(os.fspath(path)))
    walk = _Walk(str(root), max_bytes=max_bytes, hidden=hidden, ignore=ignore)
    walk.folder("", _rules_above(root) if ignore else ())
    return walk.intake.corpus(name or root.name, _FolderReader(str(root)))


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
                with os.scandir(f"{self._root}/{base}") as scan:
                    entries = list(scan)
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


class _FolderReader:
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
    """Return the rules of the folders above *root*, up to the top of its upload or repository."""
    if (root / ".git").exists():
        return ()
    above: list[Path] = []
    for folder in root.parents:
        if (folder / UPLOADS_MARK).exists():
            break
        above.append(folder)
        if (folder / ".git").exists():
            break
    else:
        return ()
    rules = []
    for folder in reversed(above):
        files = [folder / name for name in IGNORE_FILES]
        lines = [line for file in files if file.is_file() for line in _patterns(str(file))]
        if lines:
            rules.append(IgnoreRules("", lines, above=root.relative_to(folder).as_posix()))
    return tuple(rules)


def from_texts(
    texts: Mapping[str, str], *, name: str = "texts", max_bytes: int = MAX_BYTES
) -> Corpus:
    r"""Return a corpus of *texts*, which maps each path to its text.

    >>> from_texts({"a.txt": "one", "b.txt": "no \0 text"}).skipped
    {'binary': 1}
    """
    intake = Intake()
    readable: dict[str, str] = {}
    for path, text in texts.items():
        if not path or "\0" in path:
            raise InputError(f"{name}: a path is {path!r}; expected a name without NUL")
        try:
            data = text.encode()
        except UnicodeEncodeError:
            intake.skip(path, "not-unicode")
            continue
        if len(data) > max_bytes:
            intake.skip(path, "too-large")
            continue
        traits = content_traits(text, language_of(path))
        look = Look("binary" if "\0" in text else "", traits, "utf-8")
        intake.add(path, blob_id(data), len(data), look=look)
        readable[path] = text.replace("\r\n", "\n")

    return intake.corpus(name, _TextReader(readable))


class _TextReader:
    """Returns texts from memory; a class, so that a corpus can be sent to another process."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        return (self._texts[document.path] for document in documents)


class WorkFolder:
    """A temporary directory *root* with the documents of *corpus*, which :meth:`close` removes.

    Nothing else is in it, no ``.git`` above all, and nothing may be written; texts are UTF-8 with
    LF line ends. A document whose path is not a safe file name (``../x``, ``/etc/x``, ``a`` beside
    ``a/b``) is written under another name; *renamed* maps it back.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Write the documents of *corpus*."""
        self.root = Path(tempfile.mkdtemp(prefix="karat-corpus-")).resolve()
        self._remove = weakref.finalize(self, _remove, self.root)
        self._corpus = Corpus("", (), corpus.reader)
        self._names: dict[str, str] = {}
        self._folders: Counter[str] = Counter()
        self._open: set[Path] = set()
        self.show(corpus)

    @property
    def renamed(self) -> Mapping[str, str]:
        """Return the paths of documents by the names that were made up for them."""
        return {name: path for path, name in self._names.items() if name != path}

    def show(self, corpus: Corpus) -> None:
        """Make this the directory of *corpus*; files that stay as they are are not touched."""
        try:
            self._show(corpus)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the directory; calling it twice is fine."""
        self._remove()

    def _show(self, corpus: Corpus) -> None:
        step = delta(self._corpus, corpus)
        was_folder = set(+self._folders)
        self._folders.subtract(_folders(step.removed))
        self._folders.update(_folders(step.added))
        # A document is written again if its name became a folder, or stopped being one.
        turned = (was_folder ^ set(+self._folders)) & self._names.keys() & corpus.by_path.keys()
        others = {document.path for document in (*step.added, *step.changed)}
        moved = [corpus.by_path[path] for path in sorted(turned - others)]
        for document in (*step.removed, *step.changed, *moved):
            self._take_away(document.path)
        fresh = (*step.added, *step.changed, *moved)
        for document, text in zip(fresh, corpus.reader(fresh), strict=True):
            self._put(document.path, text)
        for folder in (*self._open, self.root):
            with suppress(FileNotFoundError):
                folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
        self._open.clear()
        self._corpus = corpus

    def _put(self, path: str, text: str) -> None:
        name = path if _is_safe(path) and not self._folders[path] else _made_up(path)
        try:
            self._write(name, text)
        except FileExistsError:
            # Two names that only differ in case are one file on some disks.
            name = _made_up(path)
            self._write(name, text)
        self._names[path] = name

    def _write(self, name: str, text: str) -> None:
        file = self.root / name
        self._unlock(file.parent)
        with file.open("x", encoding="utf-8", newline="") as stream:
            stream.write(text)
        file.chmod(stat.S_IRUSR)

    def _take_away(self, path: str) -> None:
        file = self.root / self._names.pop(path)
        self._unlock(file.parent)
        file.unlink()
        for folder in file.parents:
            if folder == self.root or any(folder.iterdir()):
                break
            folder.rmdir()
            self._open.discard(folder)

    def _unlock(self, folder: Path) -> None:
        """Create *folder* and its parents up to the root, and make them writable."""
        if folder in self._open:
            return
        if folder != self.root:
            self._unlock(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(stat.S_IRWXU)
        self._open.add(folder)


def _folders(documents: Iterable[Document]) -> Iterable[str]:
    """Yield the folders above each document, once for each document."""
    for document in documents:
        parts = document.path.split("/")
        for depth in range(1, len(parts)):
            yield "/".join(parts[:depth])


def _is_safe(path: str) -> bool:
    parts = path.split("/")
    return (
        not any(part in ("", ".", "..", ".git", ODD) or _is_odd(part) for part in parts)
        and len(path.encode()) < LONGEST_PATH
    )


def _is_odd(part: str) -> bool:
    return len(part.encode()) > LONGEST_NAME or (os.name == "nt" and not part.isprintable())


def _made_up(path: str) -> str:
    suffix = PurePosixPath(path).suffix
    suffix = suffix if len(suffix) <= 10 and suffix[1:].isalnum() else ""
    return f"{ODD}/{sha256(path.encode()).hexdigest()[:16]}{suffix}"


def _remove(root: Path) -> None:
    for folder, _, _ in os.walk(root):
        with suppress(OSError):
            Path(folder).chmod(stat.S_IRWXU)
    shutil.rmtree(root, ignore_errors=True)
