"""Find the targets of a commit: its changed files, lines and definitions before the change."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import GRAMMARS, SyntaxTree, parse
from karat.corpus.chunkers.languages import language_of
from karat.corpus.files.content import MAX_BYTES, Content, decode
from karat.corpus.git.objects import SUBMODULE, SYMLINK, ObjectReader
from karat.mining.code_equal import alters_code, excerpts, trees_equal
from karat.mining.commits import UnreadableCommits
from karat.mining.diffs import TOUCHED, FileDiff, Hunk, Region, diffs, regions

__all__ = ["CommitTargets", "FileTruth", "truth"]

# Size of the batches of commits whose files are read together.
_COMMITS_AT_ONCE = 64
# The file after one commit is often the file before another.
_TREES_KEPT = 32

_UNREAD = Content("", reason="unread")

Parse = Callable[[str, str], SyntaxTree | None]


class FileTruth(NamedTuple):
    """A file that existed before the commit and was changed by it.

    *path* and *blob* are those before the change, *new_path* is the path after it ("" if deleted).
    Without *regions* the target is the whole file: it was deleted, only renamed, or changed its
    type. *same_code* means that only comments, docstrings or layout changed.
    """

    path: str
    blob: str
    status: str
    new_path: str
    regions: tuple[Region, ...] = ()
    same_code: bool = False

    @property
    def grade(self) -> int:
        """Return 2 for changed lines, 1 for insertions only or a whole file."""
        return max((region.grade for region in self.regions), default=TOUCHED)


class CommitTargets(NamedTuple):
    """The target files of one commit."""

    commit: str
    files: tuple[FileTruth, ...]


def truth(
    repository: str,
    commits: Sequence[str],
    *,
    wanted: Callable[[str], bool] | None = None,
    paths: Collection[str] = (),
    syntax: bool = True,
    losses: UnreadableCommits | None = None,
) -> Iterator[CommitTargets]:
    """Yield the changed files of each of *commits* as they were in the first parent, in order.

    Only files that exist there count, and only those whose old path is *wanted* (None: all). With
    *paths*, only those are compared; a rename needs both of its paths. Without *syntax* nothing is
    parsed: there are no symbols, and *same_code* is never set. Files that a corpus would skip are
    left out and counted by reason in *unreadable*. Commits that cannot be read are added to
    *unreadable*, and raise InputError without it.
    """
    skipped = Counter[str]() if losses is None else losses.skipped
    trees = lru_cache(maxsize=_TREES_KEPT)(parse) if syntax else None
    found = diffs(repository, commits, paths=paths, losses=losses)
    with closing(ObjectReader(repository)) as objects:
        while some := list(islice(found, _COMMITS_AT_ONCE)):
            chosen = [(commit, list(_targets(files, wanted, skipped))) for commit, files in some]
            targets = [file for _, files in chosen for file in files]
            contents = _contents(objects, targets, after=syntax)
            for commit, files in chosen:
                known = (file for file in files if _is_text(file, contents, skipped))
                yield CommitTargets(commit, tuple(_truth(file, contents, trees) for file in known))


def _targets(
    files: Iterable[FileDiff], wanted: Callable[[str], bool] | None, skipped: Counter[str]
) -> Iterator[FileDiff]:
    """Yield the wanted files that existed before, as far as Git's records show."""
    for file in files:
        change = file.change
        if change.status == "A" or (wanted and not wanted(change.old_path)):
            continue
        reasons = (
            ("submodule", change.old_mode == SUBMODULE),
            ("symlink", change.old_mode == SYMLINK),
            ("name-not-utf-8", not _is_utf8(change.old_path)),
            ("binary", file.is_binary),
            ("mode-only", change.status == "M" and not file.hunks),
        )
        reason = next((reason for reason, true in reasons if true), "")
        if reason:
            skipped[reason] += 1
        else:
            yield file


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _contents(
    objects: ObjectReader, files: Iterable[FileDiff], *, after: bool
) -> dict[str, Content]:
    """Return the old contents, and the new ones in *after* if the code may be unchanged."""
    blobs: dict[str, None] = {}
    for change, hunks, _ in files:
        blobs[change.old_blob] = None
        if after and hunks and change.status in "MR" and language_of(change.path) in GRAMMARS:
            blobs[change.new_blob] = None
    return dict(zip(blobs, map(_content, objects.find(list(blobs))), strict=True))


def _content(data: bytes | None) -> Content:
    if not data:
        return Content("", reason="missing" if data is None else "empty")
    return Content("", reason="too-large") if len(data) > MAX_BYTES else decode(data)


def _is_text(file: FileDiff, contents: Mapping[str, Content], skipped: Counter[str]) -> bool:
    reason = contents[file.change.old_blob].reason
    if reason:
        skipped[reason] += 1
    return not reason


def _truth(file: FileDiff, contents: Mapping[str, Content], trees: Parse | None) -> FileTruth:
    change, hunks, _ = file
    new_path = "" if change.status == "D" else change.path
    whole = FileTruth(change.old_path, change.old_blob, change.status, new_path)
    if change.status in "DT" or not hunks:
        return whole
    old, new = contents[change.old_blob].text, contents.get(change.new_blob, _UNREAD)
    language = language_of(change.old_path)
    tree, same = None, False
    if trees and language in GRAMMARS:
        if new.reason or language != language_of(change.path):
            tree = trees(old, language)
        else:
            tree, same = _compared(old, new.text, hunks, language, trees=trees)
    return whole._replace(regions=tuple(regions(hunks, old, tree)), same_code=same)


def _compared(
    old: str, new: str, hunks: Sequence[Hunk], language: str, *, trees: Parse
) -> tuple[SyntaxTree | None, bool]:
    """Return the syntax tree of the text *old*, and whether *new* has the same code."""
    lines = lines_of(old), lines_of(new)
    before, after = excerpts(*lines, hunks) if language == "python" else (old, new)
    tree = trees(before, language)
    if tree and tree.root.has_error and before != old:
        before, after = old, new
        tree = trees(before, language)
    if tree is None or alters_code(tree, hunks, *lines):
        return tree, False
    other = trees(after, language)
    return tree, other is not None and trees_equal(tree, other)
