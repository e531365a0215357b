"""A corpus from a revision of a Git repository, without a work tree."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from karat.corpus.chunkers.languages import language_of
from karat.corpus.files.content import MAX_BYTES, decode
from karat.corpus.files.intake import FileIntake, Intake, Look, file_intake, look_at
from karat.corpus.git.chain import GONE, in_order, tree_changes
from karat.corpus.git.objects import SUBMODULE, SYMLINK, ObjectReader, TreeEntry, list_tree
from karat.corpus.git.process import git
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError

__all__ = ["GitRepository", "from_git"]


class GitRepository:
    """A repository that gives a corpus for any revision; each blob is looked at once.

    Bare repositories work as well. Close it, or use it in a ``with`` statement, when no corpus of
    it will be read any more.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the repository at *path*, a work tree or a bare repository."""
        folder = Path(path).resolve()
        if not folder.is_dir():
            raise InputError(f"{path}: no such folder")
        self.path = str(folder)
        self.name = folder.name.removesuffix(".git") or folder.parent.name
        git(self.path, "rev-parse", "--git-dir")
        self._objects = ObjectReader(self.path)
        self._reader = _Reader(self._objects)
        self._looks: dict[tuple[str, str], Look] = {}

    def __enter__(self) -> "GitRepository":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process that reads objects; reading again starts another."""
        self._objects.close()

    def corpus(
        self,
        revision: str = "HEAD",
        *,
        name: str | None = None,
        max_bytes: int = MAX_BYTES,
        hidden: bool = False,
    ) -> Corpus:
        """Return the texts of *revision*: a commit, a tag, a tree, or a folder as ``HEAD:src``.

        Ignore rules do not apply, since these files are tracked. Submodules, links, LFS pointers
        and objects that a partial clone lacks are left out and counted.
        """
        intake = Intake()
        entries = list_tree(self.path, self.tree(revision))
        for found in self._taken(entries, max_bytes=max_bytes, hidden=hidden):
            intake.put(found)
        return intake.corpus(name or f"{self.name}@{revision}", self._reader)

    def snapshots(
        self, revisions: Iterable[str], *, max_bytes: int = MAX_BYTES, hidden: bool = False
    ) -> Iterator[tuple[str, Corpus]]:
        """Yield each of *revisions*, commits or tags, with what :meth:`corpus` returns for it.

        Ancestors come before their descendants, so that each tree is that of the one before and
        a few changes; only these are read.
        """
        intake = Intake()
        known: dict[bytes, FileIntake] = {}
        order = in_order(self.path, revisions)
        changes = tree_changes(self.path, [revision.tree for revision in order])
        for revision, entries in zip(order, changes, strict=True):
            for entry in entries:
                if entry.path in known:
                    intake.withdraw(known.pop(entry.path))
            there = [entry for entry in entries if entry.mode != GONE]
            now = self._taken(there, max_bytes=max_bytes, hidden=hidden)
            for entry, found in zip(there, now, strict=True):
                known[entry.path] = found
                intake.put(found)
            yield revision.name, intake.corpus(f"{self.name}@{revision.name}", self._reader)

    def folder(self) -> str:
        """Return the folder of the work tree that *path* is, from its top ("" for that itself)."""
        shown = os.fsdecode(git(self.path, "rev-parse", "--show-prefix"))
        return shown.removesuffix("\n").removesuffix("/")

    def tree(self, revision: str) -> str:
        """Return the id of the tree of *revision*, or of one folder of it, ``revision:folder``."""
        if revision.startswith("-"):
            raise InputError(f"{self.path}: no revision can be called {revision!r}")
        asked = revision if ":" in revision else f"{revision}^{{tree}}"
        try:
            return git(self.path, "rev-parse", "--verify", asked).decode().strip()
        except InputError as error:
            raise InputError(
                f"{self.path}: no revision {revision!r}; expected a commit, a tag or a tree"
            ) from error

    def _taken(
        self, entries: Sequence[TreeEntry], *, max_bytes: int, hidden: bool
    ) -> Iterator[FileIntake]:
        """Yield the outcome of each entry; new blobs are read first."""
        reasons = [_outside(entry, max_bytes=max_bytes, hidden=hidden) for entry in entries]
        inside = zip(entries, reasons, strict=True)
        self._look((entry.oid, language_of(path)) for entry, (why, path) in inside if not why)
        for entry, (reason, path) in zip(entries, reasons, strict=True):
            if reason:
                yield FileIntake(None, reason)
            else:
                look = self._looks[entry.oid, language_of(path)]
                yield file_intake(path, entry.oid, entry.size, look=look)

    def _look(self, keys: Iterable[tuple[str, str]]) -> None:
        """Look at the blobs that no corpus of this repository has seen before."""
        new = [key for key in dict.fromkeys(keys) if key not in self._looks]
        for key, data in zip(new, self._objects.read([oid for oid, _ in new]), strict=True):
            self._looks[key] = look_at(data, key[1])


class _Reader:
    """Reads documents by their blobs; the work tree does not matter."""

    def __init__(self, objects: ObjectReader) -> None:
        self._objects = objects

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        oids = [document.blob for document in documents]
        return (decode(data).text for data in self._objects.read(oids))


def from_git(
    path: str | os.PathLike[str],
    revision: str = "HEAD",
    *,
    name: str | None = None,
    max_bytes: int = MAX_BYTES,
    hidden: bool = False,
) -> Corpus:
    """Return the texts of one revision of the repository at *path*.

    For several revisions of one repository, :class:`GitRepository` looks at each blob only once.
    """
    return GitRepository(path).corpus(revision, name=name, max_bytes=max_bytes, hidden=hidden)


def _outside(entry: TreeEntry, *, max_bytes: int, hidden: bool) -> tuple[str, str]:
    """Return why *entry* is left out, as far as its name and size say ("" if not), and its path."""
    try:
        path = entry.path.decode()
    except UnicodeDecodeError:
        return "name-not-utf-8", ""
    reasons = (
        ("submodule", entry.mode == SUBMODULE),
        ("symlink", entry.mode == SYMLINK),
        ("hidden", not hidden and (path.startswith(".") or "/." in path)),
        ("missing", entry.size < 0),
        ("too-large", entry.size > max_bytes),
    )
    return next((reason for reason, true in reasons if true), ""), path
