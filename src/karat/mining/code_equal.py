"""Detect changes that touch only comments, docstrings or layout."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from karat.corpus.chunkers.grammars import GRAMMARS, SyntaxTree, parse
from karat.mining.diffs import Hunk

if TYPE_CHECKING:
    from tree_sitter import Node


__all__ = ["alters_code", "code_equal", "excerpts", "trees_equal"]

# Tokens that may start or end a comment or a docstring in one of the languages.
_DOUBT = re.compile(r"""\#|//|/\*|\*/|--|\{-|-\}|\"{3}|'{3}|^\s*["'*]""", re.MULTILINE)
_WHITE = b" \t\r\n\f\v\\"


def code_equal(old: str, new: str, language: str) -> bool:
    r"""Return whether two texts have the same code: equal syntax trees with equal tokens.

    Comments, white space and Python docstrings are ignored; the nesting of statements is not.
    Without a grammar for the language, or if parsing takes too long, only identical texts are
    equal.

    >>> code_equal("while x:\n  f()\n  g()\n", "while x:  # twice\n    f()\n\n    g()\n", "python")
    True
    >>> code_equal("while x:\n  f()\n  g()\n", "while x:\n  f()\ng()\n", "python")
    False
    """
    if old == new or language not in GRAMMARS:
        return old == new
    one, other = parse(old, language), parse(new, language)
    return one is not None and other is not None and trees_equal(one, other)


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
    kept = set(grown)
    heads = [part for part, row in enumerate(starts) if not row or not old[row].startswith(" ")]
    for head, following in pairwise([*heads, len(starts)]):
        if not kept.isdisjoint(range(head, following)):
            kept |= {head, following - 1}
    before: list[str] = []
    after: list[str] = []
    moved = 0
    for part, (start, end) in enumerate(pairwise([*starts, len(old)])):
        if part in kept:
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
