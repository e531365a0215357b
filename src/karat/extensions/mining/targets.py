"""Build the targets of a case: whole files, line ranges or definitions.

A change that touches only comments, docstrings or layout has no targets.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from enum import StrEnum
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import GRAMMARS, Symbol, SyntaxTree, language_of, parse
from karat.corpus.files.content import MAX_BYTES, Content, decode, is_minified
from karat.corpus.git_objects import SUBMODULE, SYMLINK, ObjectReader
from karat.extensions.mining.commits import (
    TOUCHED,
    FileDiff,
    Hunk,
    Region,
    UnreadableCommits,
    diffs,
    regions,
)
from karat.model import Target
from karat.system.words import is_encodable

if TYPE_CHECKING:
    from tree_sitter import Node


# Tokens that may start or end a comment or a docstring in one of the languages.
_DOUBT = re.compile(r"""\#|//|/\*|\*/|--|\{-|-\}|\"{3}|'{3}|^\s*["'*]""", re.MULTILINE)
_WHITE = b" \t\r\n\f\v\\"
# Size of the batches of commits whose files are read together.
_COMMITS_AT_ONCE = 64
# The file after one commit is often the file before another.
_TREES_KEPT = 32

_UNREAD = Content("", reason="unread")

Parse = Callable[[str, str], SyntaxTree | None]


def alters_code(
    old: SyntaxTree, hunks: Sequence[Hunk], old_lines: Sequence[str], new_lines: Sequence[str]
) -> bool:
    """Return whether the changed lines alone prove a change of code; False means "not proven".

    They prove it if they differ in more than layout, contain no token of a comment or docstring,
    and do not begin inside one. This avoids parsing the second version of most files.
    """
    for hunk in hunks:
        gone, come = _side(old_lines, *hunk[:2]), _side(new_lines, *hunk[2:])
        if "".join(gone.split()) == "".join(come.split()) or _DOUBT.search(f"{gone}\n{come}"):
            continue
        if not _begins_in_text(old.root, hunk.row):
            return True
    return False


def _side(lines: Sequence[str], start: int, count: int) -> str:
    return "".join(lines[start - 1 : start - 1 + count]) if count else ""


def _begins_in_text(root: "Node", row: int) -> bool:
    """Return whether *row* starts inside a comment or a string."""
    node = root.descendant_for_point_range((row, 0), (row, 0))
    while node is not None:
        if (_is_comment(node) or _is_string(node)) and node.start_point[0] < row:
            return True
        node = node.parent
    return False


def trees_equal(old: SyntaxTree, new: SyntaxTree) -> bool:
    """Return whether two syntax trees of one language have the same code."""
    pairs = [(old.root, new.root)]
    while pairs:
        one, other = pairs.pop()
        if one.type != other.type:
            return False
        if _text(one, old.data) == _text(other, new.data):
            continue
        if not (one.child_count or other.child_count) or _is_string(one):
            return False
        parts, others = list(_parts(one, old)), list(_parts(other, new))
        if len(parts) != len(others):
            return False
        for part, counterpart in zip(parts, others, strict=True):
            if isinstance(part, bytes) or isinstance(counterpart, bytes):
                if part != counterpart:
                    return False
            else:
                pairs.append((part, counterpart))
    return True


def _parts(node: "Node", parsed: SyntaxTree) -> "Iterator[Node | bytes]":
    """Yield child nodes that are code, and the text of tokens without a node."""
    end = node.start_byte
    for child in node.children:
        if hidden := parsed.data[end : child.start_byte].strip(_WHITE):
            yield hidden
        end = child.end_byte
        if _is_comment(child) or _is_docstring(child, node, parsed.language):
            continue
        # Some grammars have nodes for line ends.
        if child.child_count or _text(child, parsed.data).strip(_WHITE):
            yield child
    if hidden := parsed.data[end : node.end_byte].strip(_WHITE):
        yield hidden


def _is_comment(node: "Node") -> bool:
    return "comment" in node.type or node.type == "haddock"


def _is_string(node: "Node") -> bool:
    return "string" in node.type or "heredoc" in node.type


def _is_docstring(node: "Node", around: "Node", language: str) -> bool:
    """Return whether *node* is a Python statement that consists of a string only."""
    return (
        language == "python"
        and node.type == "string"
        and around.type in ("block", "module")
        and all(part.type != "interpolation" for part in node.children)
    )


def _text(node: "Node", data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]


# No top-level statement starts with these.
_NO_STATEMENT = " \t\n\r\f\\#)]}\"'"
# A definition inside a top-level statement starts with these.
_INNER = ("    def ", "    async def ", "    class ", "    @")
_QUOTES = ('"""', "'''")


def excerpts(old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> tuple[str, str]:
    r"""Return the lines *old* and *new* as texts in which lines far from all *hunks* are blank.

    The texts are cut before definitions that follow a blank line. The changed parts stay, with the
    head of the top-level statement around each and its last part, so that its end does not move. If
    an excerpt has a syntax error, parse the whole text instead: a blank line may also be inside
    brackets.

    >>> old = ["def f():\n", "    pass\n", "\n", "def g():\n", "    pass\n"]
    >>> excerpts(old, [*old[:4], "    return 1\n"], [Hunk(5, 1, 5, 1)])
    ('\n\n\ndef g():\n    pass\n', '\n\n\ndef g():\n    return 1\n')
    """
    starts = [0, *_cuts(old, hunks)]
    grown: Counter[int] = Counter()
    for hunk in hunks:
        grown[bisect_right(starts, hunk.row) - 1] += hunk.new_lines - hunk.old_lines
    included = set(grown)
    heads = [part for part, row in enumerate(starts) if not row or not old[row].startswith(" ")]
    for head, following in pairwise([*heads, len(starts)]):
        if not included.isdisjoint(range(head, following)):
            included |= {head, following - 1}
    before: list[str] = []
    after: list[str] = []
    moved = 0
    for part, (start, end) in enumerate(pairwise([*starts, len(old)])):
        if part in included:
            before += old[start:end]
            after += new[start + moved : end + moved + grown[part]]
            moved += grown[part]
        else:
            blank = "\n" * (end - start)
            before.append(blank)
            after.append(blank)
    return "".join(before), "".join(after)


def _cuts(lines: Sequence[str], hunks: Sequence[Hunk]) -> Iterator[int]:
    """Yield rows at which a part begins in both texts; neither the row nor its blank line changed.

    A part begins after a blank line, at a top-level statement (with the comments before it) or at a
    definition inside one. The last row yielded is the one after which nothing changed.
    """
    changed = {row for hunk in hunks for row in range(hunk.row, hunk.row + hunk.old_lines + 1)}
    last = max(changed)
    start = -1
    is_inner = is_hidden = False
    for row, line in _telling(lines):
        if line == "\n":
            start = row + 1
        elif line[0] == "#":
            continue
        elif line[0] in _NO_STATEMENT:
            if row == start and line.startswith(_INNER) and not is_hidden and row not in changed:
                is_inner = True
                yield row
            start = -1
        elif start >= 0 and start not in changed:
            is_inner = is_hidden = False
            yield start
            if start > last:
                return
            start = -1
        else:
            # It shares a part with the end of another statement, so its content stays there.
            is_hidden = is_inner
            start = -1


def _telling(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield unindented lines with their rows, and the line after each of them.

    Lines that begin inside a triple-quoted string are skipped.
    """
    mark = ""
    is_next = False
    for row, line in enumerate(lines):
        if mark:
            if mark in line and line.count(mark) % 2:
                mark = ""
            continue
        if line[0] != " ":
            yield row, line
            is_next = True
        elif is_next:
            yield row, line
            is_next = False
        if '"""' in line or "'''" in line:
            mark = next((quotes for quotes in _QUOTES if line.count(quotes) % 2), "")


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
    selects: Callable[[str], bool] | None = None,
    paths: Collection[str] = (),
    syntax: bool = True,
    minified: bool = True,
    unreadable: UnreadableCommits | None = None,
) -> Iterator[CommitTargets]:
    """Yield the changed files of each of *commits* as they were in the first parent, in order.

    Only files that exist there count, and of them those whose old path *selects* accepts. With
    *paths*, only those are compared; a rename needs both of its paths. Without *syntax* nothing is
    parsed: there are no symbols, and *same_code* is never set. Files that a corpus would skip, and
    those with extremely long lines unless *minified*, are left out and counted by reason in
    *unreadable*. Commits that cannot be read are added to *unreadable*, and raise InputError
    without it.
    """
    skipped = Counter[str]() if unreadable is None else unreadable.skipped
    trees = lru_cache(maxsize=_TREES_KEPT)(parse) if syntax else None
    commit_diffs = diffs(repository, commits, paths=paths, unreadable=unreadable)
    with closing(ObjectReader(repository)) as objects:
        while some := list(islice(commit_diffs, _COMMITS_AT_ONCE)):
            chosen = [(commit, list(_targets(files, selects, skipped))) for commit, files in some]
            files = [file for _, files in chosen for file in files]
            contents = _contents(objects, files, after=syntax)
            for commit, files in chosen:
                known = (
                    file for file in files if _is_text(file, contents, skipped, minified=minified)
                )
                yield CommitTargets(commit, tuple(_truth(file, contents, trees) for file in known))


def _targets(
    files: Iterable[FileDiff], selects: Callable[[str], bool] | None, skipped: Counter[str]
) -> Iterator[FileDiff]:
    """Yield the selected files that existed before, as far as Git's records show."""
    for file in files:
        change = file.change
        if change.status == "A" or (selects and not selects(change.old_path)):
            continue
        reasons = (
            ("submodule", change.old_mode == SUBMODULE),
            ("symlink", change.old_mode == SYMLINK),
            ("name-not-utf-8", not is_encodable(change.old_path)),
            ("binary", file.is_binary),
            ("mode-only", change.status == "M" and not file.hunks),
        )
        reason = next((reason for reason, true in reasons if true), "")
        if reason:
            skipped[reason] += 1
        else:
            yield file


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
