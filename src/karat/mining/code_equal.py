"""Tells changes of code from those of comments, docstrings and layout."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.corpus.grammars import GRAMMARS, Parsed, parse
from karat.mining.diffs import Hunk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["alters_code", "code_equal", "trees_equal"]

# What may start or end a comment or a docstring in one of the languages.
_DOUBT = re.compile(r"""\#|//|/\*|\*/|--|\{-|-\}|\"{3}|'{3}|^\s*["'*]""", re.MULTILINE)
_WHITE = b" \t\r\n\f\v\\"


def code_equal(old: str, new: str, language: str) -> bool:
    r"""Say whether two texts hold the same code: equal trees of equal tokens.

    Comments, white space and the docstrings of Python do not count; where a statement stands does.
    In a language without a grammar, and where parsing takes too long, only equal texts are equal.

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
    old: Parsed, hunks: Sequence[Hunk], old_lines: Sequence[str], new_lines: Sequence[str]
) -> bool:
    """Say whether the changed lines alone show that code was altered; False means "perhaps not".

    They do when they are more than layout, hold nothing that looks like a comment or a docstring,
    and do not begin within one. This spares most changes the second syntax tree.
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
    """Say whether *row* starts inside a comment or a string."""
    node = root.descendant_for_point_range((row, 0), (row, 0))
    while node is not None:
        if (_is_comment(node) or _is_string(node)) and node.start_point[0] < row:
            return True
        node = node.parent
    return False


def trees_equal(old: Parsed, new: Parsed) -> bool:
    """Say whether two syntax trees of one language hold the same code."""
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


def _parts(node: "Node", parsed: Parsed) -> "Iterator[Node | bytes]":
    """Yield the children that are code, and the text of tokens for which the tree has no node."""
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
    """Say whether *node* is a statement of Python that is only a string, which does nothing."""
    return (
        language == "python"
        and node.type == "string"
        and around.type in ("block", "module")
        and all(part.type != "interpolation" for part in node.children)
    )


def _text(node: "Node", data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]
