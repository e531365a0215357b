"""Build the targets of a case: whole files, line ranges or definitions."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.definitions import Symbol, language_of
from karat.corpus.chunkers.grammars import GRAMMARS, SyntaxTree, parse
from karat.corpus.files.content import MAX_BYTES, Content, decode, is_minified
from karat.corpus.git.objects import SUBMODULE, SYMLINK, ObjectReader
from karat.mining.code_equal import alters_code, excerpts, trees_equal
from karat.mining.commits import UnreadableCommits
from karat.mining.diffs import TOUCHED, FileDiff, Hunk, Region, diffs, regions
from karat.model import Target

__all__ = ["MATCHES", "CommitTargets", "Grain", "TargetFile", "build_targets", "read_targets"]

# Size of the batches of commits whose files are read together.
_COMMITS_AT_ONCE = 64
# The file after one commit is often the file before another.
_TREES_KEPT = 32

_UNREAD = Content("", reason="unread")

Parse = Callable[[str, str], SyntaxTree | None]


class TargetFile(NamedTuple):
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
    files: tuple[TargetFile, ...]


def read_targets(
    repository: str,
    commits: Sequence[str],
    *,
    wanted: Callable[[str], bool] | None = None,
    paths: Collection[str] = (),
    syntax: bool = True,
    minified: bool = True,
    unreadable: UnreadableCommits | None = None,
) -> Iterator[CommitTargets]:
    """Yield the changed files of each of *commits* as they were in the first parent, in order.

    Only files that exist there count, and only those whose old path is *wanted* (None: all). With
    *paths*, only those are compared; a rename needs both of its paths. Without *syntax* nothing is
    parsed: there are no symbols, and *same_code* is never set. Files that a corpus would skip, and
    those with extremely long lines unless *minified*, are left out and counted by reason in
    *unreadable*. Commits that cannot be read are added to *unreadable*, and raise InputError
    without it.
    """
    skipped = Counter[str]() if unreadable is None else unreadable.skipped
    trees = lru_cache(maxsize=_TREES_KEPT)(parse) if syntax else None
    found = diffs(repository, commits, paths=paths, unreadable=unreadable)
    with closing(ObjectReader(repository)) as objects:
        while some := list(islice(found, _COMMITS_AT_ONCE)):
            chosen = [(commit, list(_targets(files, wanted, skipped))) for commit, files in some]
            files = [file for _, files in chosen for file in files]
            contents = _contents(objects, files, after=syntax)
            for commit, files in chosen:
                known = (
                    file for file in files if _is_text(file, contents, skipped, minified=minified)
                )
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


def _is_text(
    file: FileDiff, contents: Mapping[str, Content], skipped: Counter[str], *, minified: bool
) -> bool:
    content = contents[file.change.old_blob]
    reason = content.reason
    if not minified and is_minified(content.text, language_of(file.change.old_path)):
        reason = "minified"
    if reason:
        skipped[reason] += 1
    return not reason


def _truth(file: FileDiff, contents: Mapping[str, Content], trees: Parse | None) -> TargetFile:
    change, hunks, _ = file
    new_path = "" if change.status == "D" else change.path
    whole = TargetFile(change.old_path, change.old_blob, change.status, new_path)
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


class Grain(StrEnum):
    """The unit of a target."""

    FILE = "file"
    LINE = "line"
    SYMBOL = "symbol"


# The matching mode for targets of each grain.
MATCHES: Mapping[Grain, str] = {Grain.FILE: "exact", Grain.LINE: "lines", Grain.SYMBOL: "symbol"}


def build_targets(files: Iterable[TargetFile], grain: Grain) -> tuple[Target, ...]:
    """Return the targets in *files*, with grade 2 if code was changed, else 1.

    A line target is a range of the file before the change; adjacent ranges are joined. It has the
    name of the definition around it, if there is exactly one. A symbol target is a definition with
    its lines. A file without lines or definitions is a target as a whole.

    >>> login = Symbol("login", "function", 10, 30)
    >>> changed = (Region(12, 13, 2, (login,)), Region(13, 14, 1, (login,)))
    >>> file = TargetFile("auth.py", "b0", "M", "auth.py", changed)
    >>> build_targets([file], Grain.LINE)[0][:4], build_targets([file], Grain.SYMBOL)[0][:5]
    (('auth.py', 2, 12, 14), ('auth.py', 2, 10, 30, 'login'))
    """
    return tuple(target for file in files for target in _FINDERS[grain](file) or [_whole(file)])


def _whole(file: TargetFile) -> Target:
    return Target(file.path, file.grade)


def _lines(file: TargetFile) -> list[Target]:
    return [
        Target(file.path, region.grade, region.start_line, region.end_line, _only(region.symbols))
        for region in _joined(file.regions)
    ]


def _joined(regions: Iterable[Region]) -> Iterator[Region]:
    """Yield *regions* by line; overlapping and adjacent ones are joined."""
    last: Region | None = None
    for region in sorted(regions):
        if last is None:
            last = region
        elif region.start_line <= last.end_line + 1:
            last = Region(
                last.start_line,
                max(last.end_line, region.end_line),
                max(last.grade, region.grade),
                tuple(dict.fromkeys((*last.symbols, *region.symbols))),
            )
        else:
            yield last
            last = region
    if last:
        yield last


def _only(symbols: tuple[Symbol, ...]) -> str:
    return symbols[0].name if len(symbols) == 1 else ""


def _symbols(file: TargetFile) -> list[Target]:
    grades: dict[Symbol, int] = {}
    for region in file.regions:
        for symbol in region.symbols:
            grades[symbol] = max(region.grade, grades.get(symbol, 0))
    return [
        Target(file.path, grade, symbol.start_line, symbol.end_line, symbol.name)
        for symbol, grade in grades.items()
    ]


_FINDERS: Mapping[Grain, Callable[[TargetFile], list[Target]]] = {
    Grain.FILE: lambda _: [],
    Grain.LINE: _lines,
    Grain.SYMBOL: _symbols,
}
