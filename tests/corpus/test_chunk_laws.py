"""What holds for every chunker, whatever the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.corpus import CHUNKERS, Chunker, create_chunker
from karat.corpus.chunkers.base import Piece

LANGUAGES = ["python", "rust", "javascript", "c", "ruby", "markdown", "rst", "text", "json", ""]
NO_OVERLAP = [
    create_chunker("lines", size=3),
    create_chunker("syntax", size=20),
    create_chunker("syntax"),
    create_chunker("definitions", size=20),
    create_chunker("definitions"),
    create_chunker("markdown", size=60, merge=20),
    create_chunker("markdown"),
    create_chunker("auto", code=40, prose=60, merge=20, lines=4),
    create_chunker("auto"),
]
OVERLAP = [
    create_chunker("lines", size=5, overlap=2),
    create_chunker("window", size=7, overlap=3),
    create_chunker("window", size=9, overlap=0, unit="characters"),
]
EXAMPLES = (
    "# Title|## Part|Title|=====|-----|~~~~~|```|```python|- item|> quote|---|...|"
    "def f(x):|    return x|class A:|    def m(self):|        pass|x = 1|\"\"\"|'''|"
    "fn main() {|}|impl A {|    let x = 1;|// note|/* open|*/|#[test]|#include <a>|struct s {|"
    'function f() {|const a = () => {|});|if (a) {|} else {|[1, 2,|  3]|end|{"a": [|]}||'
    "grün = '日本'|\tindented|   |word word word word word word word word word word word"
)
LINES = st.sampled_from(EXAMPLES.split("|"))
TEXTS = st.one_of(
    st.lists(LINES, max_size=40).map("\n".join),
    st.text(max_size=80),
    st.text(alphabet="a(){}\n #=-\x0b\x0c\x1c\u2028\r", max_size=60),
)


def name(chunker: Chunker) -> str:
    return f"{chunker.spec.name} {dict(chunker.spec.params)}"


def full_lines(text: str) -> set[int]:
    return {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}


def check_ranges(text: str, pieces: list[Piece]) -> None:
    lines = text.split("\n")
    for piece in pieces:
        assert 1 <= piece.start_line <= piece.end_line <= len(lines)
        whole = "\n".join(lines[piece.start_line - 1 : piece.end_line])
        assert piece.text.rstrip("\n") in whole
        assert piece.text.strip()
    starts = [piece.start_line for piece in pieces]
    assert starts == sorted(starts)


@pytest.mark.parametrize("chunker", NO_OVERLAP, ids=name)
@given(text=TEXTS, language=st.sampled_from(LANGUAGES))
@settings(max_examples=120)
def test_every_line_is_in_exactly_one_piece(chunker: Chunker, text: str, language: str) -> None:
    pieces = list(chunker.split(text, language).pieces)
    check_ranges(text, pieces)
    covered = [line for p in pieces for line in range(p.start_line, p.end_line + 1)]
    assert len(covered) == len(set(covered))
    assert full_lines(text) <= set(covered)
    for piece in pieces:
        lines = text.split("\n")[piece.start_line - 1 : piece.end_line]
        assert piece.text.removesuffix("\n") == "\n".join(lines)


@pytest.mark.parametrize("chunker", OVERLAP, ids=name)
@given(text=TEXTS)
def test_every_line_is_in_some_piece(chunker: Chunker, text: str) -> None:
    pieces = list(chunker.split(text, "").pieces)
    check_ranges(text, pieces)
    covered = {line for p in pieces for line in range(p.start_line, p.end_line + 1)}
    assert full_lines(text) <= covered


@pytest.mark.parametrize("chunker", [*NO_OVERLAP, *OVERLAP], ids=name)
@given(text=TEXTS, language=st.sampled_from(LANGUAGES))
@settings(max_examples=30)
def test_the_same_text_gives_the_same_pieces(chunker: Chunker, text: str, language: str) -> None:
    assert chunker.split(text, language) == chunker.split(text, language)


@pytest.mark.parametrize("name", CHUNKERS.built_in())
@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_text_has_no_piece(name: str, text: str, language: str) -> None:
    assert list(create_chunker(name).split(text, language).pieces) == []


@pytest.mark.parametrize("name", CHUNKERS.built_in())
def test_a_spec_builds_the_chunker_again(name: str) -> None:
    spec = create_chunker(name).spec
    params = {key: value for key, value in spec.params.items() if key != "grammars"}
    assert create_chunker(spec.name, **params).spec == spec
    assert spec.kind == "chunker"
    assert len({create_chunker(other).spec.digest for other in CHUNKERS.built_in()}) == 6
