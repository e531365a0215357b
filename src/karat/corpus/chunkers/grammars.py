"""Syntax trees: languages by file name, a parse that ends, and the definitions in a text."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.errors import MissingExtra

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

# Only these are ever loaded. A grammar's own scanner may spin without reading (cobol's does, on
# "x"), which nothing in the process can interrupt; each of these is tested to end on broken input.
GRAMMARS = frozenset(
    [
        "bash",
        "c",
        "cpp",
        "csharp",
        "dart",
        "elixir",
        "go",
        "haskell",
        "java",
        "javascript",
        "julia",
        "kotlin",
        "lua",
        "php",
        "proto",
        "python",
        "ruby",
        "rust",
        "scala",
        "swift",
        "tsx",
        "typescript",
        "zig",
    ]
)
_INHERITS = "; inherits: "

PARSE_LIMIT_S = 5.0
# How often the clock is looked at. Where time grows with the square of the text, half a kilobyte
# still takes a second or two at most; less would slow ordinary texts down. The callback that
# py-tree-sitter has for this crashes, up to 0.26.
_BLOCK = 512
# Limits for inputs such as compiler tests, on which tree-sitter cannot be stopped from inside the
# process. Many unclosed brackets overflow its stack. Many repeated opening signs or words take
# quadratic time.
_OPEN_BRACKETS = 5000
_SIGNS_IN_A_ROW = b"(" * 5000
_LONGEST_PERIOD = 256
_REPEATED = 8192
# Quotes and the other signs of base64 are not among them: long strings have many.
_OPENING, _ENDING = b"([{<|?:&!@~^$*-.#", b")]}>,;"
_SIGNS = bytes(ord(")" if byte in _ENDING else "(") for byte in range(256))
_NO_SIGNS = bytes(byte for byte in range(256) if byte not in _OPENING + _ENDING)
# A query takes quadratic time on as many adjacent words that fit no rule.
_RUBBLE = 20_000
_SEPARATOR = re.compile(r"::|[.:]")
# Real code is not nested this deeply, but unclosed brackets are, and they take quadratic time.
_DEEPEST = 500
TYPES = frozenset({"class", "struct", "union", "trait", "interface", "enum", "impl"})


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
    grammar = grammar_of(language)
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
            # Report the end of the text, so that the parser finishes soon.
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

    return Query(grammar_of(language), definition_query(language))


def definition_query(language: str) -> str:
    """Return the query for the definitions of *language*: the file of its name in ``queries``.

    A first line such as ``; inherits: javascript`` puts the query of that language before it.
    """
    from karat.system.package_data import read_data

    text = read_data("karat.corpus.chunkers", f"queries/{language}.scm")
    first = text.partition("\n")[0]
    if not first.startswith(_INHERITS):
        return text
    return definition_query(first.removeprefix(_INHERITS)) + text


@cache
def grammar_of(name: Any) -> "Language":
    """Return the grammar of a language of GRAMMARS."""
    try:
        import tree_sitter  # noqa: F401 - absent as often as the grammars
        from tree_sitter_language_pack import get_language
    except ImportError as error:
        raise MissingExtra(
            "tree-sitter", extra="code", purpose="a syntax tree of source code"
        ) from error
    return get_language(name)


class Symbol(NamedTuple):
    """One definition; lines count from 1, *end_line* included.

    *kind* is one of function, method, class, struct, union, trait, interface, enum, impl, module,
    type, constant, macro and property; *parent* names what encloses it, outermost first, joined by
    dots.
    """

    name: str
    kind: str
    start_line: int
    end_line: int
    parent: str = ""

    @property
    def qualified(self) -> str:
        """Return the name with what encloses it: ``Session.login``."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


def symbols(text: str, language: str) -> list[Symbol]:
    r"""Return the definitions in *text*, in its order; none for a language without a grammar.

    A definition starts at its first decorator. A function in a class, a trait and the like is a
    method. A text that cannot be parsed in time has none.

    >>> for symbol in symbols("class A:\n    @cached\n    def f(self): ...\n", "python"):
    ...     print(*symbol)
    A class 1 3
    f method 2 3 A
    """
    if language not in GRAMMARS:
        return []
    parsed = parse(text, language)
    return [] if parsed is None else tree_symbols(parsed)


class _Definition(NamedTuple):
    order: int
    start: int
    end: int
    kind: str
    name: str
    parent: str
    first_row: int
    last_row: int


def tree_symbols(parsed: SyntaxTree, lines: tuple[int, int] | None = None) -> list[Symbol]:
    """Return the definitions in a syntax tree, in the order of the text.

    With *lines*, a first and a last one, only those that have a line in common with them: many
    times as fast in a long text.
    """
    from tree_sitter import QueryCursor

    cursor = QueryCursor(symbol_query(parsed.language))
    cursor.set_max_start_depth(_DEEPEST)
    if lines:
        cursor.set_point_range((lines[0] - 1, 0), (lines[1], 0))
    best: dict[int, _Definition] = {}
    for order, captures in cursor.matches(parsed.root):
        name = captures["name"][0]
        definition = _definition(name, captures, order, parsed.data)
        known = best.get(name.start_byte)
        if definition:
            best[name.start_byte] = _united(known, definition) if known else definition
    return _nested(
        sorted(best.values(), key=lambda definition: (definition.start, -definition.end))
    )


def _definition(
    name: "Node", captures: "dict[str, list[Node]]", order: int, data: bytes
) -> _Definition | None:
    kind = next(key for key in captures if key not in ("name", "parent", "body", "_word"))
    node = captures[kind][0]
    last = captures["body"][0] if "body" in captures else node
    *parents, label = _SEPARATOR.split(_text(name, data).strip("\"'`"))
    if not label.strip():
        return None
    parents = [_text(part, data) for part in captures.get("parent", ())] or parents
    first_row, last_row = node.start_point[0], last.end_point[0]
    if last.end_point[1] == 0 and last_row > first_row:
        last_row -= 1
    return _Definition(
        order, node.start_byte, last.end_byte, kind, label, ".".join(parents), first_row, last_row
    )


def _united(one: _Definition, other: _Definition) -> _Definition:
    """Return one definition from two matches of a name: bare and decorated, function and constant.

    The first pattern of the query gives the kind, the wider match the range.
    """
    first = min(one, other)
    wide = min(one, other, key=lambda definition: (definition.start, -definition.end))
    return first._replace(
        start=wide.start, end=wide.end, first_row=wide.first_row, last_row=wide.last_row
    )


def _text(node: "Node", data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode(errors="replace")


def _nested(definitions: Sequence[_Definition]) -> list[Symbol]:
    """Return symbols with their parents from definitions sorted by where they start."""
    result: list[Symbol] = []
    around: list[tuple[int, Symbol]] = []
    for item in definitions:
        while around and around[-1][0] <= item.start:
            around.pop()
        outer = around[-1][1] if around else None
        parent = ".".join(part for part in (outer and outer.qualified, item.parent) if part)
        in_type = outer is not None and outer.kind in TYPES
        kind = "method" if in_type and item.kind == "function" else item.kind
        symbol = Symbol(item.name, kind, item.first_row + 1, item.last_row + 1, parent)
        result.append(symbol)
        around.append((item.end, symbol))
    return result


PROSE = frozenset({"asciidoc", "docx", "markdown", "pdf", "rst", "text"})
CONFIG = frozenset({"dockerfile", "ini", "json", "make", "properties", "toml", "xml", "yaml"})

_EXTENSIONS = {
    "asciidoc": "adoc asciidoc asc",
    "bash": "sh bash zsh ksh bats",
    "c": "c",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cpp": "cc cpp cxx c++ h hh hpp hxx ipp inl cu cuh",
    "csharp": "cs csx",
    "css": "css",
    "dart": "dart",
    "docx": "docx",
    "elixir": "ex exs",
    "elm": "elm",
    "erlang": "erl hrl",
    "go": "go",
    "graphql": "graphql gql",
    "haskell": "hs",
    "html": "html htm xhtml",
    "ini": "ini cfg conf editorconfig",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "json": "json jsonc json5 webmanifest",
    "julia": "jl",
    "kotlin": "kt kts",
    "less": "less",
    "lua": "lua",
    "make": "mk mak",
    "markdown": "md markdown mdx mkd",
    "nix": "nix",
    "objc": "m mm",
    "ocaml": "ml",
    "perl": "pl pm",
    "pdf": "pdf",
    "php": "php phtml",
    "powershell": "ps1 psm1",
    "properties": "properties env",
    "proto": "proto",
    "python": "py pyi pyw",
    "r": "r",
    "rst": "rst rest",
    "ruby": "rb rake gemspec",
    "rust": "rs",
    "scala": "scala sc",
    "scss": "scss sass",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "terraform": "tf tfvars hcl",
    "text": "txt text log org tex",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vim": "vim",
    "vue": "vue",
    "xml": "xml xsd xsl xslt svg plist csproj",
    "yaml": "yaml yml",
    "zig": "zig",
}
_NAMES = {
    "bash": ".bashrc .profile .zshrc",
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "ini": ".gitconfig .gitmodules .npmrc .flake8 requirements.txt constraints.txt",
    "json": ".eslintrc .babelrc .prettierrc",
    "make": "makefile gnumakefile justfile",
    "ruby": "gemfile rakefile vagrantfile podfile",
    "text": "authors changelog changes contributing copying install licence license news notice "
    "readme thanks todo",
    "toml": "pipfile cargo.lock poetry.lock uv.lock",
    "yaml": ".clang-format .clang-tidy pnpm-lock.yaml",
}
_BY_EXTENSION = {
    extension: language for language, line in _EXTENSIONS.items() for extension in line.split()
}
_BY_NAME = {name: language for language, line in _NAMES.items() for name in line.split()}


@lru_cache(maxsize=1 << 16)
def language_of(path: str) -> str:
    """Return the language of *path*, or "" if its name is unknown.

    The whole name decides before the extension; case does not matter. Headers (``.h``) are taken
    for C++, whose grammar reads those of C as well.

    >>> language_of("src/App.TSX"), language_of("docker/Dockerfile"), language_of("data.bin")
    ('tsx', 'dockerfile', '')
    """
    name = path.rpartition("/")[2].lower()
    known = _BY_NAME.get(name)
    if known:
        return known
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        return ""
    return _BY_EXTENSION.get(extension, "") or _BY_NAME.get(stem, "")
