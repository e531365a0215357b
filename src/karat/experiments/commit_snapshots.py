"""Snapshots of a repository, one per commit: files by path, texts and definitions on demand."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from karat.corpus.chunkers.grammars import GRAMMARS, Symbol, language_of, symbols
from karat.corpus.files.content import MAX_BYTES, Content, decode
from karat.corpus.git import GONE, in_order, object_ids, tree_changes
from karat.corpus.git_objects import SUBMODULE, SYMLINK, ObjectReader, TreeEntry, list_tree
from karat.errors import InputError
from karat.scoring.matching.modes import normalise

_NO_FILES = {SUBMODULE: "submodule", SYMLINK: "symlink"}


@dataclass(frozen=True, eq=False)
class CommitSnapshot:
    """One commit: its entries by normalised path; contents are read on first use."""

    commit: str
    entries: Mapping[str, TreeEntry]
    _blobs: "_Blobs" = field(repr=False)

    @property
    def short(self) -> str:
        """Return the short form of the commit id."""
        return self.commit[:12]

    def content(self, path: str) -> Content:
        """Return the text at *path*, or the reason why a corpus would skip it."""
        return self._blobs.content(self.entries[path])

    def definitions(self, path: str) -> list[Symbol] | None:
        """Return the definitions in the text at *path*; None if its language has no grammar."""
        return self._blobs.definitions(self.entries[path], language_of(path))

    def holding(self, word: str, among: Iterable[str] | None = None) -> Iterator[str]:
        """Yield the paths of files with a grammar that contain *word*, in any case.

        Only files in *among* are read; None means all.
        """
        for path in self.entries if among is None else among:
            if language_of(path) in GRAMMARS and word.lower() in self.content(path).text.lower():
                yield path


class SnapshotReader:
    """The snapshots of one repository; each blob is read and parsed once for all of them.

    Close it, or use it in a ``with`` statement.
    """

    def __init__(self, repository: str) -> None:
        """Read from *repository*, a work tree or a bare repository."""
        self._repository = repository
        self._objects = ObjectReader(repository)
        self._blobs = _Blobs(self._objects)

    def __enter__(self) -> "SnapshotReader":
        return self

    def __exit__(self, *exception: object) -> None:
        self._objects.close()

    def each(self, commits: Iterable[str]) -> Iterator[CommitSnapshot]:
        """Yield the snapshot of each of *commits*, which are full ids, ancestors first.

        One Git process lists the first commit, another the changes from each commit to the next.
        """
        order = in_order(self._repository, commits)
        changes = tree_changes(self._repository, [revision.tree for revision in order])
        entries: dict[str, TreeEntry] = {}
        for revision, changed in zip(order, changes, strict=True):
            # If only the spelling of a path changed, remove the old one before adding the new one.
            for entry in sorted(changed, key=lambda entry: entry.mode != GONE):
                if entry.mode == GONE:
                    entries.pop(_path(entry), None)
                else:
                    entries[_path(entry)] = entry
            yield CommitSnapshot(revision.commit, entries.copy(), self._blobs)

    def at(self, commit: str) -> CommitSnapshot:
        """Return the snapshot of one commit."""
        (tree,) = object_ids(self._repository, [commit], "tree")
        if not tree:
            raise InputError(f"{self._repository}: no commit {commit!r}")
        entries = {_path(entry): entry for entry in list_tree(self._repository, tree)}
        return CommitSnapshot(commit, entries, self._blobs)


def _path(entry: TreeEntry) -> str:
    return normalise(entry.path.decode(errors="surrogateescape"))


class _Blobs:
    """Cache of texts and definitions by blob."""

    def __init__(self, objects: ObjectReader) -> None:
        self._objects = objects
        self._contents: dict[str, Content] = {}
        self._definitions: dict[tuple[str, str], list[Symbol]] = {}

    def content(self, entry: TreeEntry) -> Content:
        reason = _NO_FILES.get(entry.mode, "too-large" if entry.size > MAX_BYTES else "")
        if reason:
            return Content("", reason=reason)
        if entry.oid not in self._contents:
            (data,) = self._objects.find([entry.oid])
            content = Content("", reason="missing") if data is None else decode(data)
            self._contents[entry.oid] = content
        return self._contents[entry.oid]

    def definitions(self, entry: TreeEntry, language: str) -> list[Symbol] | None:
        if language not in GRAMMARS:
            return None
        key = entry.oid, language
        if key not in self._definitions:
            self._definitions[key] = symbols(self.content(entry).text, language)
        return self._definitions[key]
