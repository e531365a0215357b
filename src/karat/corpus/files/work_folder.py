"""A temporary directory with the documents of a corpus, updated from snapshot to snapshot."""

import os
import shutil
import stat
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath

from karat.corpus.snapshot import Corpus, Document, delta

__all__ = ["WorkFolder"]

LONGEST_NAME = 255
LONGEST_PATH = 2_000
# Folder for documents whose paths cannot be file names.
ODD = "_odd"


class WorkFolder:
    """A temporary directory *root* with the documents of *corpus*, which :meth:`close` removes.

    Nothing else is in it, no ``.git`` above all, and nothing may be written; texts are UTF-8 with
    LF line ends. A document whose path is no safe file name (``../x``, ``/etc/x``, ``a`` beside
    ``a/b``) gets a made-up one; *renamed* maps it back.
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
        # A name that became a folder, or is no longer one, counts as a new name of its document.
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
