"""The chunker ``syntax``: whole definitions where they fit, along the syntax tree where not.

After cAST (Zhang and others, arXiv 2506.15655): a node above the limit is split into its children,
small siblings are merged up to the limit, and size is counted in characters that are not white.
Cuts fall between lines only, so the unit here is a range of lines.

Merged siblings are few and large, but an edit in one may move all that follow it to other pieces.
Where that costs, as over many snapshots, the chunker ``definitions`` does not merge them.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.chunkers.base import (
    TIMED_OUT,
    Piece,
    SplitResult,
    cut_by_size,
    lines_of,
    piece_of,
    require_positive,
    spec_of,
    weights_of,
)
from karat.corpus.chunkers.grammars import (
    GRAMMARS,
    PROSE,
    TYPES,
    Symbol,
    grammar_version,
    parse,
    tree_symbols,
)
from karat.corpus.chunkers.sections import Sections
from karat.corpus.chunkers.window import Lines
from karat.model.spec import Spec

if TYPE_CHECKING:
    from tree_sitter import Node


_FUNCTIONS = frozenset({"function", "method", "macro"})

LineRange = tuple[int, int]


def units(symbols: Iterable[Symbol]) -> list[LineRange]:
    """Return the lines, from 0, of the outermost functions and of the types that hold none.

    *symbols* are all definitions of a text, in its order. A definition on a single line is not a
    unit.

    >>> code = [Symbol("A", "class", 1, 9), Symbol("f", "method", 2, 4), Symbol("B", "class", 6, 9)]
    >>> units(code)
    [(1, 3), (5, 8)]
    """
    long = [symbol for symbol in symbols if symbol.end_line > symbol.start_line]
    functions = list(_outermost(symbol for symbol in long if symbol.kind in _FUNCTIONS))
    types = (symbol for symbol in long if symbol.kind in TYPES)
    free = (symbol for symbol in types if owner(functions, _row_range(symbol)) is None)
    return sorted([*functions, *_outermost(free)])


def owner(ranges: Sequence[LineRange], rows: LineRange) -> LineRange | None:
    """Return the last of *ranges*, sorted and apart, that has a line in common with *rows*.

    >>> owner([(1, 3), (5, 8)], (2, 4)), owner([(1, 3), (5, 8)], (4, 4))
    ((1, 3), None)
    """
    index = bisect_right(ranges, rows[1], key=lambda known: known[0]) - 1
    return ranges[index] if index >= 0 and ranges[index][1] >= rows[0] else None


def _outermost(symbols: Iterable[Symbol]) -> Iterator[LineRange]:
    end = -1
    for symbol in symbols:
        first, last = _row_range(symbol)
        if first > end:
            yield first, last
            end = last


def _row_range(symbol: Symbol) -> LineRange:
    return symbol.start_line - 1, symbol.end_line - 1


Range = tuple[int, int]

MAX_CHARACTERS = 1_000_000
# Past this depth lines are as good as nodes, and Python's stack is safe.
_DEEPEST = 150
# A remainder such as a closing brace is added to the piece before it, even above the limit.
_REMAINDER = 0.1
# A closing word or brace does so in any case.
_CLOSING = 3
# Node types that belong to the node after them, besides comments.
_LEADING = frozenset({"attribute_item", "decorator", "annotation", "attribute_list"})


@dataclass(frozen=True, slots=True)
class Syntax:
    r"""Pieces of at most *size* characters that are not white, cut along the syntax tree.

    Without *merge* each function is a piece of its own, and so is each type that holds none; code
    between them is merged. A language without a grammar, a text that is too long or one that takes
    too long to parse is cut into lines, and the split says so. A single line is never cut.

    >>> text = "import os\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n"
    >>> [(piece.text[:9], piece.symbols) for piece in Syntax(size=30).split(text, "python").pieces]
    [('import os', ('f',)), ('def g():\n', ('g',))]
    """

    size: int = 1500
    merge: bool = True

    def __post_init__(self) -> None:
        require_positive("syntax", size=self.size)

    @property
    def spec(self) -> Spec:
        """Return the name and parameters, with the version of the grammars."""
        own = spec_of(self, "syntax")
        return Spec(own.kind, own.name, {**own.params, "grammars": grammar_version()})

    def split(self, text: str, language: str) -> SplitResult:
        """Return the pieces of *text*."""
        if language not in GRAMMARS:
            return SplitResult(Lines().split(text, language).pieces, "no-grammar")
        if len(text) > MAX_CHARACTERS:
            return SplitResult(Lines().split(text, language).pieces, "too-large-to-parse")
        parsed = parse(text, language)
        if parsed is None:
            return SplitResult(Lines().split(text, language).pieces, TIMED_OUT)
        lines, symbols = lines_of(text), tree_symbols(parsed)
        rule = _Rule(weights_of(text), self.size, () if self.merge else units(symbols))
        ranges = rule.merged(_parts([parsed.root], (0, len(lines) - 1), rule))
        return SplitResult(list(_pieces(lines, ranges, symbols)))


def definitions(size: int = 1500) -> Syntax:
    """Return the chunker that never merges two functions."""
    return Syntax(size, merge=False)


class _Rule(NamedTuple):
    """When a range of lines is a piece: within *limit*, and not more than one of *apart*."""

    weights: Sequence[int]
    limit: int
    apart: Sequence[Range]

    def weight(self, first: int, last: int) -> int:
        """Return how many characters that are not white the lines have."""
        return self.weights[last + 1] - self.weights[first]

    def fits(self, nodes: "Sequence[Node]", rows: Range) -> bool:
        """Return whether *rows*, the lines of *nodes*, may stay together."""
        if rows[0] == rows[1]:
            return True
        if self.weight(*rows) > self.limit:
            return False
        unit = owner(self.apart, rows)
        if unit is None or (unit[0] <= rows[0] and rows[1] <= unit[1]):
            return True
        # What leads to it, such as comments, is a node of its own; what encloses it starts before.
        return unit[1] >= rows[1] and any(node.start_point[0] == unit[0] for node in nodes)

    def merged(self, parts: Iterator[Range]) -> list[Range]:
        """Return *parts* with neighbours joined as long as they stay within the limit."""
        merged: list[Range] = []
        rest = self.limit * _REMAINDER
        for first, last in parts:
            if merged:
                begin = merged[-1][0]
                own, joined = self.weight(first, last), self.weight(begin, last)
                near = joined <= self.limit or (own <= rest and joined <= self.limit + rest)
                if near and (own <= _CLOSING or self._are_one(merged[-1], (first, last))):
                    merged[-1] = begin, last
                    continue
            merged.append((first, last))
        return merged

    def _are_one(self, rows: Range, others: Range) -> bool:
        return not self.apart or owner(self.apart, rows) == owner(self.apart, others)


def _parts(nodes: "Sequence[Node]", rows: Range, rule: _Rule, depth: int = 0) -> Iterator[Range]:
    """Yield ranges that cover *rows*, the lines of *nodes*, each within *rule* if it can be."""
    first, last = rows
    if first > last:
        return
    if rule.fits(nodes, rows):
        yield rows
    elif depth == _DEEPEST or not any(map(_is_splittable, nodes)):
        yield from cut_by_size(rule.weights, first, last, rule.limit)
    else:
        for group, inner in _groups(nodes, rows):
            yield from rule.merged(_parts(inner, group, rule, depth + 1))


def _groups(nodes: "Sequence[Node]", rows: Range) -> "Iterator[tuple[Range, list[Node]]]":
    """Yield the children of *nodes* as ranges of lines that cover *rows*, in order.

    Children on one line make one range, and so does a comment or an attribute with what follows
    it. Lines between two children, blank ones as a rule, go to the second.
    """
    begin, last = rows
    end = begin - 1
    group: list[Node] = []
    leading = False
    for node in nodes:
        for child in node.children if _is_splittable(node) else (node,):
            start = child.start_point[0]
            if group and start > end + leading:
                yield (begin, end), group
                begin, group = end + 1, []
            group.append(child)
            end = max(end, min(_last_row(child), last))
            leading = child.is_extra or child.type in _LEADING
    yield (begin, last), group


def _is_splittable(node: "Node") -> bool:
    """Return whether a cut may fall inside *node*; on one line none can."""
    return node.child_count > 0 and _last_row(node) > node.start_point[0]


def _last_row(node: "Node") -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _pieces(
    lines: Sequence[str], ranges: Sequence[Range], symbols: Sequence[Symbol]
) -> Iterator[Piece]:
    """Yield the pieces, with the names that each defines and those around its first line."""
    position = 0
    around: list[Symbol] = []
    for first, last in ranges:
        piece = piece_of(lines, first, last, kind="code")
        if piece is None:
            continue
        around = [symbol for symbol in around if symbol.end_line >= piece.start_line]
        scope = tuple(symbol.name for symbol in around)
        inside: list[Symbol] = []
        while position < len(symbols) and symbols[position].start_line <= piece.end_line:
            inside.append(symbols[position])
            position += 1
        around += [symbol for symbol in inside if symbol.end_line > piece.end_line]
        names = tuple(dict.fromkeys(symbol.name for symbol in inside))
        yield piece._replace(symbols=names, scope=scope)


@dataclass(frozen=True, slots=True)
class Auto:
    """Chooses the chunker by language; *code*, *prose*, *merge* and *lines* are the sizes.

    Without the extra ``code`` source code is cut into lines, and each split says so.

    >>> [Auto().split("# One", name).pieces[0].kind for name in ("python", "markdown", "")]
    ['code', 'prose', 'lines']
    """

    code: int = 1500
    prose: int = 2000
    merge: int = 400
    lines: int = 40

    def __post_init__(self) -> None:
        require_positive("auto", code=self.code, lines=self.lines)
        Sections(self.prose, self.merge)

    @property
    def spec(self) -> Spec:
        """Return the name and parameters, with the version of the grammars."""
        own = spec_of(self, "auto")
        return Spec(own.kind, own.name, {**own.params, "grammars": grammar_version()})

    def split(self, text: str, language: str) -> SplitResult:
        """Return the pieces of *text*."""
        if language in PROSE:
            return Sections(self.prose, self.merge).split(text, language)
        if language not in GRAMMARS:
            return Lines(self.lines).split(text, language)
        if not grammar_version():
            return SplitResult(Lines(self.lines).split(text, language).pieces, "no-extra-code")
        return Syntax(self.code).split(text, language)
