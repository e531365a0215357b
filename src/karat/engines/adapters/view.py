"""A corpus as a directory, for searches that read files."""

import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath

from karat.corpus import Corpus

__all__ = ["CorpusView"]

LONGEST_NAME = 255
# Where documents go whose paths cannot be file names.
ODD = "_odd"


class CorpusView:
    """A directory with the documents of a corpus.

    A corpus of a folder is that folder. Any other is written into a temporary directory, without
    ``.git`` and without write permission, which :meth:`close` removes. A document whose path is
    no safe file name (``../x``, ``/etc/x``, ``a`` beside ``a/b``) gets a made-up one; *renamed*
    maps it back.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.renamed: Mapping[str, str] = {}
        folder = getattr(corpus.reader, "root", None)
        if isinstance(folder, str):
            self.root = Path(folder)
            self.temporary = False
            return
        self.root = Path(tempfile.mkdtemp(prefix="karat-corpus-")).resolve()
        self.temporary = True
        self._remove = weakref.finalize(self, _remove, self.root)
        try:
            self.renamed = _write(corpus, self.root)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the directory if it is ours; calling it twice is fine."""
        if self.temporary:
            self._remove()


def _write(corpus: Corpus, root: Path) -> dict[str, str]:
    """Write every document below *root*; return the paths of those that were renamed."""
    folders = {
        parent for document in corpus for parent in map(str, PurePosixPath(document.path).parents)
    }
    renamed: dict[str, str] = {}
    made: set[Path] = set()
    for document, text in corpus.texts():
        name = document.path
        if not _is_safe(name) or name in folders:
            name = _made_up(document.path)
        try:
            _put(root / name, text, made)
        except FileExistsError:
            # Two names that only differ in case are one file on some disks.
            name = _made_up(document.path)
            _put(root / name, text, made)
        if name != document.path:
            renamed[name] = document.path
    for folder in {root, *(parent for path in made for parent in _up_to(path, root))}:
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    return renamed


def _put(place: Path, text: str, made: set[Path]) -> None:
    if place.parent not in made:
        place.parent.mkdir(parents=True, exist_ok=True)
        made.add(place.parent)
    with place.open("x", encoding="utf-8", newline="") as stream:
        stream.write(text)
    place.chmod(stat.S_IRUSR)


def _up_to(folder: Path, root: Path) -> list[Path]:
    return [folder, *folder.parents][: len(folder.relative_to(root).parts)]


def _is_safe(path: str) -> bool:
    parts = path.split("/")
    return (
        not any(part in ("", ".", "..", ".git", ODD) or _is_odd(part) for part in parts)
        and len(path.encode()) < 2_000
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
