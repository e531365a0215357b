"""Questions from docstrings and doc comments: the first sentence asks for the definition."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import (
    GRAMMARS,
    Symbol,
    SyntaxTree,
    grammar_of,
    parse,
    tree_symbols,
)
from karat.corpus.snapshot import Mask
from karat.extensions.mining.questions.wording import (
    Finding,
    Question,
    check_query,
    comment_text,
    first_sentences,
    without_name,
)
from karat.model import Target

if TYPE_CHECKING:
    from tree_sitter import Query


KIND = "docstring"
# Definitions without a description of their own, as a rule.
_SKIPPED_KINDS = frozenset({"constant", "impl", "property"})
# Fewer lines besides the comment leave nothing to find.
_LEAST_LINES = 2

_PYTHON = "(function_definition) @definition (class_definition) @definition"
_COMMENT_NODES = ("comment", "line_comment", "block_comment", "multiline_comment", "doc_comment")
# The first signs of a doc comment; in other languages, every comment above a definition is one.
_DOC_SIGNS = {
    **dict.fromkeys(
        ("java", "javascript", "kotlin", "php", "scala", "tsx", "typescript"), ("/**",)
    ),
    **dict.fromkeys(("csharp", "dart", "rust", "swift", "zig"), ("///", "/**")),
}
# Lines between a comment and its definition.
_BETWEEN = ("#[", "@", "template<", "template <", "export default")
_MODULE_SIGN = "//!"
# A comment on a package in Go begins with its name.
_PACKAGE = re.compile(r"^Package \w+ ")


class DocComment(NamedTuple):
    """The lines of a doc comment, from 1, and the definition; without one it is of the file.

    *stand_in* is the statement that keeps the syntax valid if the comment is masked.
    """

    start_line: int
    end_line: int
    symbol: Symbol | None
    stand_in: str = ""


def docstring_questions(path: str, text: str, language: str) -> Finding:
    """Return a question for every doc comment in *text*, and masks that hide the comments."""
    lines = lines_of(text)
    questions, masks = [], []
    for comment in doc_comments(text, language):
        questions.append(_question(path, lines, language, comment))
        masks.append((Mask(comment.start_line, comment.end_line, comment.stand_in),))
    return Finding(tuple(questions), tuple(masks))


def _question(path: str, lines: Sequence[str], language: str, comment: DocComment) -> Question:
    first, last, symbol, _ = comment
    query = first_sentences(comment_text(lines[first - 1 : last]))
    query = without_name(query, symbol.name) if symbol else _PACKAGE.sub("", query)
    start, end = (symbol.start_line, symbol.end_line) if symbol else (1, len(lines))
    target = Target(path, 1.0, start, end, symbol.qualified if symbol else "")
    rest = sum(
        1
        for number in range(start, end + 1)
        if not first <= number <= last and lines[number - 1].strip()
    )
    reason = check_query(query) or ("nothing-left" if rest < _LEAST_LINES else "")
    return Question(query, (target,), KIND, language, (path, first), reason)


def doc_comments(text: str, language: str) -> list[DocComment]:
    r"""Return the doc comments in *text*, in its order; none for a language without a grammar.

    >>> text = "// Run starts it.\nfunc Run() {}\n"
    >>> [(c.start_line, c.symbol.name) for c in doc_comments(text, "go")]
    [(1, 'Run')]
    """
    if language not in GRAMMARS:
        return []
    parsed = parse(text, language)
    if parsed is None:
        return []
    symbols = [symbol for symbol in tree_symbols(parsed) if symbol.kind not in _SKIPPED_KINDS]
    find = _docstrings if language == "python" else _comments_above
    by_line = {comment.start_line: comment for comment in find(parsed, symbols, text)}
    return [by_line[line] for line in sorted(by_line)]


def _docstrings(parsed: SyntaxTree, symbols: Sequence[Symbol], text: str) -> Iterator[DocComment]:
    from tree_sitter import QueryCursor

    lines = lines_of(text)
    captured = QueryCursor(_query("python", _PYTHON)).captures(parsed.root)
    bodies = [node.child_by_field_name("body") for node in captured.get("definition", ())]
    for body in (parsed.root, *bodies):
        statements = [n for n in body.named_children if n.type != "comment"] if body else []
        node = statements[0] if statements else None
        if node and node.type == "expression_statement" and node.named_children:
            node = node.named_children[0]
        if node is None or node.type != "string":
            continue
        first, last = node.start_point[0], node.end_point[0]
        before = lines[first].encode()[: node.start_point[1]]
        after = lines[last].encode()[node.end_point[1] :]
        if before.strip() or after.strip():
            continue
        around = [s for s in symbols if s.start_line <= first + 1 and last + 1 <= s.end_line]
        alone = body is not parsed.root and len(statements) == 1
        stand_in = f"{before.decode()}..." if alone else ""
        yield DocComment(first + 1, last + 1, around[-1] if around else None, stand_in)


def _comments_above(
    parsed: SyntaxTree, symbols: Sequence[Symbol], text: str
) -> Iterator[DocComment]:
    lines = lines_of(text)
    rows = _comment_rows(parsed, lines)
    taken: set[int] = set()
    for symbol in symbols:
        row = symbol.start_line - 2
        while row >= 0 and row not in rows and lines[row].lstrip().startswith(_BETWEEN):
            row -= 1
        # A block that is marked as documentation may have a blank line below it.
        if row > 0 and not lines[row].strip() and lines[row - 1].strip() == "*/":
            row -= parsed.language in _DOC_SIGNS
        comment = _block_ending(row, rows, lines, parsed.language)
        if comment and comment[0] not in taken:
            taken.add(comment[0])
            yield DocComment(comment[0] + 1, comment[1] + 1, symbol)
    yield from _file_comment(rows, lines, parsed.language)


def _block_ending(
    row: int, rows: set[int], lines: Sequence[str], language: str
) -> tuple[int, int] | None:
    """Return the rows of the doc comment whose last row is *row*, None without one."""
    signs = _DOC_SIGNS.get(language)
    first = row
    while first in rows:
        bare = lines[first].lstrip()
        if signs and bare.startswith("/*"):
            return (first, row) if bare.startswith(signs) else None
        if signs and "///" in signs and not bare.startswith(("///", "*", "/*")):
            break
        first -= 1
    first += 1
    if first > row or (signs and not lines[first].lstrip().startswith(signs)):
        return None
    # A comment that starts with a directive, such as a shebang, belongs to the file.
    return None if lines[first].startswith("#!") else (first, row)


def _file_comment(rows: set[int], lines: Sequence[str], language: str) -> Iterator[DocComment]:
    """Yield the comment on a whole file: ``//!`` in Rust, the comment above ``package`` in Go."""
    if language == "rust":
        first = next((row for row in sorted(rows) if lines[row].startswith(_MODULE_SIGN)), -1)
        last = first
        while last + 1 in rows and first >= 0 and lines[last + 1].startswith(_MODULE_SIGN):
            last += 1
        if first >= 0:
            yield DocComment(first + 1, last + 1, None)
    elif language == "go":
        package = next((row for row, line in enumerate(lines) if line.startswith("package ")), 0)
        comment = _block_ending(package - 1, rows, lines, language)
        if comment:
            yield DocComment(comment[0] + 1, comment[1] + 1, None)


def _comment_rows(parsed: SyntaxTree, lines: Sequence[str]) -> set[int]:
    """Return the rows that consist of comments only."""
    from tree_sitter import QueryCursor

    rows: set[int] = set()
    query = _query(parsed.language, _comment_pattern(parsed.language))
    for node in QueryCursor(query).captures(parsed.root).get("comment", ()):
        first, last = node.start_point[0], node.end_point[0]
        if (node.end_point[1] == 0 and last > first) or lines[last].encode()[
            node.end_point[1] :
        ].strip():
            last -= 1
        if lines[first].encode()[: node.start_point[1]].strip():
            first += 1
        rows.update(range(first, last + 1))
    return rows


@cache
def _comment_pattern(language: str) -> str:
    grammar = grammar_of(language)
    names = [name for name in _COMMENT_NODES if grammar.id_for_node_kind(name, True)]
    return " ".join(f"({name}) @comment" for name in names)


@cache
def _query(language: str, pattern: str) -> "Query":
    from tree_sitter import Query

    return Query(grammar_of(language), pattern)
