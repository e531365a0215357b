"""Syntax trees: which languages have one, and a parse that ends."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.corpus.chunkers.symbol_queries import QUERIES
from karat.errors import MissingExtra

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

__all__ = ["GRAMMARS", "SyntaxTree", "grammar_version", "have_grammars", "parse", "symbol_query"]

# Only these are ever loaded. A grammar's own scanner may spin without reading (cobol's does, on
# "x"), which nothing in the process can interrupt; each of these is tested to end on broken input.
GRAMMARS = frozenset(QUERIES)

PARSE_LIMIT_S = 5.0
# How often the clock is looked at. Where time grows with the square of the text, half a kilobyte
# still takes a second or two at most; less would slow ordinary texts down. The callback that
# py-tree-sitter has for this crashes, up to 0.26.
_BLOCK = 512
# What follows is no code but a test of compilers, on which nothing in the process can stop
# tree-sitter. Brackets that nobody closes overflow its stack. Signs and words that open something,
# over and over, take it time by their square when all of the text is read.
_OPEN_BRACKETS = 5000
_SIGNS_IN_A_ROW = b"(" * 5000
_LONGEST_PERIOD = 256
_REPEATED = 8192
# Those of long strings, as quotes and what base64 has, are none.
_OPENING, _ENDING = b"([{<|?:&!@~^$*-.#", b")]}>,;"
_SIGNS = bytes(ord(")" if byte in _ENDING else "(") for byte in range(256))
_NO_SIGNS = bytes(byte for byte in range(256) if byte not in _OPENING + _ENDING)
# Words that fit nowhere, side by side, take a query as much.
_RUBBLE = 20_000


class SyntaxTree(NamedTuple):
    """A syntax tree, and the bytes (UTF-8) that its positions count in."""

    root: "Node"
    data: bytes
    language: str


def parse(
    text: str,
    language: str,
    *,
    limit_s: float = PARSE_LIMIT_S,
    clock: Callable[[], float] = monotonic,
) -> SyntaxTree | None:
    """Return the syntax tree of *text*, or None if that takes longer than *limit_s*, or might.

    *language* is one of GRAMMARS.
    """
    grammar = _language(language)
    from tree_sitter import Parser

    data = text.encode()
    if _is_riddle(data):
        return None
    deadline = clock() + limit_s
    late = False

    def block(offset: int, _point: object) -> bytes:
        nonlocal late
        late = late or clock() > deadline
        if late:
            # A text that seems to end here lets the parser finish soon.
            return b""
        end = offset + _BLOCK
        # A character in two blocks would be asked for again, and a text that ends then crashes.
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        return data[offset:end]

    root = Parser(grammar).parse(block).root_node
    return None if late or _holds_rubble(root) else SyntaxTree(root, data, language)


def _is_riddle(data: bytes) -> bool:
    signs = data.translate(None, _NO_SIGNS)
    opened = sum(map(signs.count, b"([{")) - sum(map(signs.count, b")]}"))
    starts = range(0, len(data) - _REPEATED, _REPEATED // 2)
    return (
        opened > _OPEN_BRACKETS
        or _SIGNS_IN_A_ROW in signs.translate(_SIGNS)
        or any(_repeats(data, start) for start in starts)
    )


def _repeats(data: bytes, start: int) -> bool:
    """Return whether *data* from *start* on is the same few bytes over and over, blanks aside."""
    sample = data[start : start + _LONGEST_PERIOD]
    again = data.find(sample, start + 1, start + 2 * _LONGEST_PERIOD)
    run = data[start : start + _REPEATED]
    return again > 0 and run == data[again : again + _REPEATED] and not sample.isspace()


def _holds_rubble(root: "Node") -> bool:
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.is_error and node.child_count > _RUBBLE:
            return True
        if node.has_error and node.descendant_count > _RUBBLE:
            nodes += node.children
    return False


def have_grammars() -> bool:
    """Return whether the extra ``code`` is installed; faster than looking up its version."""
    return all(map(find_spec, ("tree_sitter", "tree_sitter_language_pack")))


@cache
def grammar_version() -> str:
    """Return the version of the installed grammars, "" without the extra ``code``."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tree-sitter-language-pack") if version("tree-sitter") else ""
    except PackageNotFoundError:
        return ""


@cache
def symbol_query(language: str) -> "Query":
    """Return the compiled query for the definitions of *language*."""
    from tree_sitter import Query

    return Query(_language(language), QUERIES[language])


@cache
def _language(name: Any) -> "Language":
    try:
        import tree_sitter  # noqa: F401 - absent as often as the grammars
        from tree_sitter_language_pack import get_language
    except ImportError as error:
        raise MissingExtra(
            "tree-sitter", extra="code", purpose="a syntax tree of source code"
        ) from error
    return get_language(name)
