"""Syntax trees: which languages have one, and a parse that ends."""

from functools import cache
from string import punctuation
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.corpus.symbol_queries import QUERIES
from karat.errors import MissingExtra

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

__all__ = ["GRAMMARS", "Parsed", "grammar_version", "parse", "symbol_query"]

# Only these are ever loaded. A grammar's own scanner may spin without reading (cobol's does, on
# "x"), which nothing in the process can interrupt; each of these is tested to end on broken input.
GRAMMARS = frozenset(QUERIES)

PARSE_LIMIT_S = 5.0
_BLOCK = 1 << 15
# So many signs in a row, or brackets that nobody closes, are no code but a test of compilers.
# tree-sitter takes time by the square of the first and overflows its stack by the second, and
# nothing in the process can stop either.
_SIGNS_IN_A_ROW = b"(" * 10_000
_OPEN_BRACKETS = 5000
_SIGNS = bytes(ord("(") if chr(byte) in punctuation else ord("a") for byte in range(256))
_WHITE = b" \t\r\n\f\v"


class Parsed(NamedTuple):
    """A syntax tree, and the bytes (UTF-8) that its positions count in."""

    root: "Node"
    data: bytes
    language: str


def parse(text: str, language: str, *, limit_s: float = PARSE_LIMIT_S) -> Parsed | None:
    """Return the syntax tree of *text*, or None if that takes longer than *limit_s*, or might.

    *language* is one of GRAMMARS.
    """
    grammar = _language(language)
    from tree_sitter import Parser

    data = text.encode()
    if _is_riddle(data):
        return None
    deadline = monotonic() + limit_s
    late = False

    def block(offset: int, _point: object) -> bytes:
        # A text that seems to end here lets the parser finish at once.
        nonlocal late
        late = late or monotonic() > deadline
        return b"" if late else data[offset : offset + _BLOCK]

    tree = Parser(grammar).parse(block)
    return None if late else Parsed(tree.root_node, data, language)


def _is_riddle(data: bytes) -> bool:
    # An excerpt may be long, but most of it is line ends.
    if len(data) - data.count(b"\n") <= _OPEN_BRACKETS:
        return False
    opened = sum(map(data.count, b"([{")) - sum(map(data.count, b")]}"))
    return opened > _OPEN_BRACKETS or _SIGNS_IN_A_ROW in data.translate(_SIGNS, _WHITE)


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
