"""A corpus from a revision of a Git repository, without a work tree."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from karat.corpus.content import decode
from karat.corpus.git_objects import SUBMODULE, ObjectReader, TreeEntry, list_tree
from karat.corpus.git_process import git
from karat.corpus.intake import MAX_BYTES, Intake, Look, look_at
from karat.corpus.languages import language_of
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError

__all__ = ["GitRepository", "from_git"]

_SYMLINK = "120000"


class GitRepository:
    """A repository that gives a corpus for any revision; each blob is looked at once.

    Bare repositories work as well. Close it, or use it in a ``with`` statement, when no corpus of
    it will be read any more.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the repository at *path*, a work tree or a bare repository."""
        place = Path(path).resolve()
        if not place.is_dir():
            raise InputError(f"{path}: no such folder")
        self.path = str(place)
        self.name = place.name.removesuffix(".git") or place.parent.name
        git(self.path, "rev-parse", "--git-dir")
        self._objects = ObjectReader(self.path)
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
        """Return the texts of *revision*: a commit, a tag or a tree.

        Ignore rules do not apply, since these files are tracked. Submodules, links, LFS pointers
        and objects that a partial clone lacks are left out and counted.
        """
        intake = Intake()
        chosen: list[tuple[str, TreeEntry]] = []
        for entry in list_tree(self.path, self.tree(revision)):
            reason, path = _outside(entry, max_bytes=max_bytes, hidden=hidden)
            if reason:
                intake.skip(reason)
            else:
                chosen.append((path, entry))
        self._look(chosen)
        for path, entry in chosen:
            look = self._looks[entry.oid, language_of(path)]
            intake.add(path, entry.oid, entry.size, look=look)
        return intake.corpus(name or f"{self.name}@{revision}", _Reader(self._objects))

    def tree(self, revision: str) -> str:
        """Return the id of the tree of *revision*."""
        if revision.startswith("-"):
            raise InputError(f"{self.path}: no revision can be called {revision!r}")
        try:
            return git(self.path, "rev-parse", "--verify", f"{revision}^{{tree}}").decode().strip()
        except InputError as error:
            raise InputError(
                f"{self.path}: no revision {revision!r}; expected a commit, a tag or a tree"
            ) from error

    def _look(self, chosen: Iterable[tuple[str, TreeEntry]]) -> None:
        """Look at the blobs that no corpus of this repository has seen before."""
        keys = {(entry.oid, language_of(path)): None for path, entry in chosen}
        new = [key for key in keys if key not in self._looks]
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
        ("symlink", entry.mode == _SYMLINK),
        ("hidden", not hidden and (path.startswith(".") or "/." in path)),
        ("missing", entry.size < 0),
        ("too-large", entry.size > max_bytes),
    )
    return next((reason for reason, true in reasons if true), ""), path
