"""Questions from tests: the name of a test asks for the code that it tests."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import TYPES, Symbol, symbols
from karat.corpus.snapshot import Mask
from karat.extensions.mining.questions.wording import Finding, Question, check_query, spoken_name
from karat.extensions.mining.words import LEAST_WORDS, content_words, parts
from karat.model import Target

KIND = "test"
_CODE = frozenset({"function", "method", "macro", *TYPES}) - {"impl"}
_NAMED = re.compile(r"tests?_\w|[tT]ests?[A-Z]\w|(?:should|it|when)_?[A-Z_]\w")
_JAVA_TEST = re.compile(r"@(?:Test|ParameterizedTest|RepeatedTest)\b")
_RUST_TEST = re.compile(r"\s*#\[(?:\w+::)*test\b")
# Tests that are calls with a title: Mocha, Jest, RSpec, Minitest's spec.
_CALL = re.compile(
    r"""^(\s*)(?:it|test|specify|example)(?:\.\w+)?\s*\(?\s*(["'`])(.+?)\2\s*(?:,|do\b)"""
)
_GROUP = re.compile(
    r"""^(\s*)(?:describe|context|suite)(?:\.\w+)?\s*\(?\s*(["'`])(.+?)\2\s*(?:,|do\b)"""
)
_CALLED = frozenset({"javascript", "typescript", "tsx", "ruby"})
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_NAME = re.compile(r"[A-Za-z_]\w*")
_USED = re.compile(r"([A-Za-z_]\w*[!?]?)\s*(?=\()|\.([A-Za-z_]\w*[!?]?)")
_ARGUMENTS = re.compile(r"\([^()]*\)")
_SHOULD = re.compile(r"^(?:should|it|must)\s+", re.IGNORECASE)
# How a definition that a test uses is scored, see Definitions.tested.
_SHARED_WORDS, _RARITY, _FILE, _FOLDER = 1.5, 1.2, 0.4, 0.3
_LEAST_SCORE = 1.9
# A name of one word, such as "query", counts if fewer tests use it, or if its file fits.
_RARE = 0.6
# Folders whose code is not code under test.
_EXAMPLES = frozenset(
    {"example", "examples", "sample", "samples", "demo", "benchmark", "benchmarks"}
)
# Names of methods that many classes have.
_ACCESSORS = frozenset({"get", "set", "new", "init", "Get", "Set", "New"})
# A name with more definitions is ambiguous.
_MOST_DEFINITIONS = 2


class SourceText(NamedTuple):
    """The text of a document."""

    path: str
    text: str
    language: str


class RepositoryTest(NamedTuple):
    """A test: its name as words, its lines (from 1), and the names that its code uses."""

    source: SourceText
    words: str
    start_line: int
    end_line: int
    used: frozenset[str]


def find_tests(source: SourceText, *, inline: bool = False) -> list[RepositoryTest]:
    """Return the tests in a document; *inline* those inside of production code, as in Rust."""
    lines = lines_of(source.text)
    if source.language in _CALLED and not inline:
        titled = [*_titled(lines)]
        if titled:
            return [_case(source, lines, *one) for one in titled]
    named = []
    for symbol in symbols(source.text, source.language):
        if symbol.kind in ("function", "method") and _is_test(
            symbol, lines, source.language, inline
        ):
            words = spoken_name(symbol.name)
            if len(content_words(words)) < LEAST_WORDS and symbol.parent:
                outer = spoken_name(symbol.parent.rpartition(".")[2])
                outer = outer.removesuffix(" test").removesuffix(" tests")
                words = f"{outer} {words}".strip()
            named.append((words, _first_line(symbol, lines), symbol.end_line))
    return [_case(source, lines, *one) for one in named]


def _first_line(symbol: Symbol, lines: Sequence[str]) -> int:
    first = symbol.start_line
    while first > 1 and lines[first - 2].lstrip().startswith("#["):
        first -= 1
    return first


def _is_test(symbol: Symbol, lines: Sequence[str], language: str, inline: bool) -> bool:
    if language == "rust":
        return any(
            _RUST_TEST.match(line)
            for line in lines[_first_line(symbol, lines) - 1 : symbol.start_line]
        )
    if inline:
        return False
    if language in ("java", "kotlin"):
        return bool(
            _JAVA_TEST.search(" ".join(lines[symbol.start_line - 1 : symbol.start_line + 3]))
        )
    return bool(_NAMED.match(symbol.name))


def _titled(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the title and the lines of tests that are calls; the indentation shows their end."""
    groups: list[tuple[int, str]] = []
    for row, line in enumerate(lines):
        if group := _GROUP.match(line):
            groups = [one for one in groups if one[0] < len(group[1])]
            groups.append((len(group[1]), _ARGUMENTS.sub("", group[3]).strip(" .#")))
        call = _CALL.match(line)
        if not call:
            continue
        depth = len(call[1])
        groups = [one for one in groups if one[0] < depth]
        title = _SHOULD.sub("", call[3])
        for _, outer in reversed(groups):
            if len(content_words(title)) >= LEAST_WORDS:
                break
            title = f"{outer} {title}"
        end = row
        while end + 1 < len(lines) and (
            not lines[end + 1].strip() or len(lines[end + 1]) - len(lines[end + 1].lstrip()) > depth
        ):
            end += 1
        yield title, row + 1, min(end + 2, len(lines))


def _case(
    source: SourceText, lines: Sequence[str], words: str, start: int, end: int
) -> RepositoryTest:
    body = _STRING.sub('""', "".join(lines[start:end]))
    used = frozenset(first or second for first, second in _USED.findall(body))
    return RepositoryTest(
        source, words, start, end, used | {n for n in _NAME.findall(body) if n[0].isupper()}
    )


class Definitions:
    """The definitions in production code, and how many tests use each name."""

    def __init__(self, sources: Iterable[SourceText], tests: Sequence[RepositoryTest]) -> None:
        """Find the definitions of *sources*, without those in the lines of *tests*."""
        inline = defaultdict(list)
        for test in tests:
            inline[test.source.path].append((test.start_line, test.end_line))
        self._by_name: dict[str, list[tuple[SourceText, Symbol]]] = defaultdict(list)
        for source in sources:
            if _EXAMPLES.intersection(source.path.lower().split("/")):
                continue
            for symbol in symbols(source.text, source.language):
                inside = any(a <= symbol.start_line <= b for a, b in inline[source.path])
                inside |= not _TEST_WORDS.isdisjoint(symbol.parent.lower().split("."))
                if symbol.kind in _CODE and symbol.name not in _ACCESSORS and not inside:
                    self._by_name[symbol.name].append((source, symbol))
        self._uses = Counter(name for test in tests for name in test.used if name in self._by_name)
        self._tests = len(tests)

    def tested(self, test: RepositoryTest) -> list[tuple[SourceText, Symbol]]:
        """Return the definitions that *test* is about, best first; empty if that is unclear.

        Each name that the test uses and the repository defines is scored: by the share of its words
        that the name of the test has, by how few other tests use it, and by whether the test file
        is named after its file. The best one counts if its score is high and it is rarely defined.
        """
        words = set(map(_stem, parts(test.words)))
        best: tuple[float, str, list[tuple[SourceText, Symbol]]] = (0.0, "", [])
        for name in sorted(test.used & self._by_name.keys()):
            for definitions in self._groups(name, test):
                own = set(map(_stem, parts(name)))
                shared = len(own & words) / max(len(own), 1) * min(1.0, 0.5 + len(own & words) / 2)
                rarity = log(self._tests / self._uses[name] + 1e-9) / log(self._tests + 1)
                near = any(_is_near(test.source.path, definition) for definition in definitions)
                beside = any(_folder(test.source.path) == _folder(s.path) for s, _ in definitions)
                score = _SHARED_WORDS * shared + _RARITY * rarity + _FILE * near + _FOLDER * beside
                plain = len(own) == 1 and rarity < _RARE and not near
                if shared and not plain and score > best[0]:
                    best = score, name, definitions
        score, _, definitions = best
        return definitions if score >= _LEAST_SCORE else []

    def _groups(self, name: str, test: RepositoryTest) -> Iterator[list[tuple[SourceText, Symbol]]]:
        """Yield the definitions of *name* that the test can mean, if they are few."""
        definitions = [
            one
            for one in self._by_name[name]
            if one[0].language == test.source.language
            or (
                {one[0].language, test.source.language} <= {"javascript", "typescript", "tsx"}
                or {one[0].language, test.source.language} <= {"c", "cpp"}
            )
        ]
        if len(definitions) > _MOST_DEFINITIONS:
            near = [one for one in definitions if _is_near(test.source.path, one)]
            known = [
                one for one in near or definitions if one[1].parent.rpartition(".")[2] in test.used
            ]
            definitions = known or near
        if definitions and len(definitions) <= _MOST_DEFINITIONS:
            yield definitions


_TEST_WORDS = frozenset({"test", "tests", "spec", "unit", "it"})


def _is_near(test_path: str, definition: tuple[SourceText, Symbol]) -> bool:
    """Return whether a test file is named after the file of a definition, or after its name."""
    source, symbol = definition
    tested = [w for w in map(_stem, parts(_file_stem(test_path))) if w not in _TEST_WORDS]
    own = [*map(_stem, parts(_file_stem(source.path)))]
    if own in (["init"], ["index"], ["mod"]):
        own = [*map(_stem, parts(source.path.split("/")[-2] if "/" in source.path else ""))]
    name = [*map(_stem, parts(symbol.name))]
    return bool(tested) and (tested[: len(own)] == own or tested[-len(name) :] == name)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _file_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _stem(word: str) -> str:
    for end in ("ing", "ed", "es", "s"):
        if len(word) > len(end) + 3 and word.endswith(end):
            return word.removesuffix(end)
    return word


def questions_from_tests(
    tests: Sequence[RepositoryTest], definitions: Definitions
) -> Mapping[str, Finding]:
    """Return a question for each of *tests*, by path; masks hide tests in production code."""
    by_path: dict[str, list[tuple[Question, tuple[Mask, ...]]]] = defaultdict(list)
    for test in tests:
        path = test.source.path
        reason = check_query(test.words)
        tested = [] if reason else definitions.tested(test)
        targets = tuple(
            Target(source.path, 1.0, symbol.start_line, symbol.end_line, symbol.qualified)
            for source, symbol in tested
        )
        if not reason and not targets:
            reason = "unresolved"
        language = tested[0][0].language if tested else test.source.language
        question = Question(test.words, targets, KIND, language, (path, test.start_line), reason)
        by_path[path].append((question, (Mask(test.start_line, test.end_line),)))
    return {
        path: Finding(tuple(q for q, _ in own), tuple(masks for _, masks in own))
        for path, own in by_path.items()
    }
