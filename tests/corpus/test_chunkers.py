"""Chunkers on texts worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import create_chunker
from karat.corpus.chunkers import syntax
from karat.corpus.chunkers.base import Piece
from karat.errors import InputError, UnknownName
from karat.model.spec import Spec


def cut(name: str, text: str, language: str = "", **parameters: object) -> list[Piece]:
    return list(create_chunker(name, **parameters).split(text, language).pieces)


def lines(pieces: list[Piece]) -> list[tuple[int, int]]:
    return [(piece.start_line, piece.end_line) for piece in pieces]


@pytest.mark.parametrize(
    ("name", "parameters", "problem"),
    [
        ("lines", {"size": 0}, "size is 0; expected 1 or more"),
        ("lines", {"size": 5, "overlap": 5}, r"overlap is 5; expected 0 or more, below size \(5\)"),
        ("lines", {"size": True}, "size is True"),
        ("lines", {"size": "5"}, "size is '5'"),
        ("lines", {"overlap": -1}, "overlap is -1"),
        ("window", {"unit": "lines"}, "unit is 'lines'; expected words, characters, tokens"),
        ("window", {"tokenizer": "minilm"}, "tokenizer 'minilm' needs unit=tokens, not unit=words"),
        ("syntax", {"size": 1.5}, "size is 1.5"),
        ("markdown", {"size": 100, "merge": 100}, "merge is 100"),
        ("auto", {"code": 0}, "code is 0"),
        ("auto", {"merge": 5000}, "merge is 5000"),
        ("auto", {"sise": 1}, "unexpected keyword argument 'sise'"),
        ("auto:100", {}, "unexpected keyword argument 'size'"),
        ("lines:few", {}, "size 'few' is not a whole number"),
        ("window(size=20, overlap=32)", {}, r"32; expected 0 or more, below size \(20\)"),
        ("window", {"size": 20, "overlap": False}, "overlap is False"),
        ("window:0", {}, "size is 0; expected 1 or more"),
        ("lines(size=few)", {}, "size is 'few'"),
        ("lines(few)", {}, "'few' is not an option; expected name=value"),
        ("lines(size=4", {}, r"'\)' is missing"),
    ],
)
def test_parameters_are_checked(name: str, parameters: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        create_chunker(name, **parameters)


def test_an_unknown_chunker_gets_a_hint() -> None:
    with pytest.raises(UnknownName, match="did you mean 'markdown'"):
        create_chunker("markdwn")


def test_parameters_may_be_written_in_brackets() -> None:
    written = create_chunker("window(size=20, overlap=4, unit=characters)")
    assert written == create_chunker("window", size=20, overlap=4, unit="characters")
    assert create_chunker("syntax:99(merge=False)") == create_chunker("definitions", size=99)


def test_lines_overlap_and_end_with_the_text() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 11)) + "\n"
    assert lines(cut("lines", text, size=4)) == [(1, 4), (5, 8), (9, 10)]
    assert lines(cut("lines", text, size=4, overlap=1)) == [(1, 4), (4, 7), (7, 10)]
    assert lines(cut("lines", text, size=40)) == [(1, 10)]


def test_only_a_line_feed_ends_a_line() -> None:
    pieces = cut("lines", "a\x0bb\x0cc\u2028d\x85e\nf", size=1)
    assert [piece.text for piece in pieces] == ["a\x0bb\x0cc\u2028d\x85e\n", "f"]


@pytest.mark.parametrize(
    ("size", "overlap"), [(1, 0), (2, 1), (9, 4), (33, 16), (63, 31), (64, 32), (256, 32)]
)
def test_a_small_window_repeats_half_of_the_one_before(size: int, overlap: int) -> None:
    assert create_chunker(f"window:{size}").spec == Spec(
        "chunker", "window", {"size": size, "overlap": overlap, "unit": "words", "tokenizer": ""}
    )
    text = " ".join(f"w{n}" for n in range(200))
    assert cut(f"window:{size}", text) == cut("window", text, size=size, overlap=overlap)


def test_a_window_cuts_a_long_line() -> None:
    text = "one\n" + " ".join(f"w{n}" for n in range(10)) + "\n"
    pieces = cut("window", text, size=4, overlap=1)
    assert [piece.text for piece in pieces] == [
        "one\nw0 w1 w2",
        "w2 w3 w4 w5",
        "w5 w6 w7 w8",
        "w8 w9",
    ]
    assert lines(pieces) == [(1, 2), (2, 2), (2, 2), (2, 2)]
    assert [p.text for p in cut("window", "ab c", size=2, overlap=0, unit="characters")] == [
        "ab",
        "c",
    ]


PYTHON = '''\
"""Doc."""
import os

# About f.
@cache
def f():
    return 1


class Cart:
    """Holds items."""

    def first(self):
        return self.items[0] + self.items[0]

    def second(self):
        return self.items[1] + self.items[1]
'''


def test_syntax_keeps_definitions_whole() -> None:
    pieces = cut("syntax", PYTHON, "python", size=85)
    assert lines(pieces) == [(1, 7), (10, 14), (16, 17)]
    assert [piece.symbols for piece in pieces] == [("f",), ("Cart", "first"), ("second",)]
    assert [piece.scope for piece in pieces] == [(), (), ("Cart",)]
    assert {piece.kind for piece in pieces} == {"code"}


def test_syntax_merges_all_that_fits() -> None:
    assert lines(cut("syntax", PYTHON, "python")) == [(1, 17)]


def test_definitions_keeps_functions_apart() -> None:
    pieces = cut("definitions", PYTHON, "python")
    assert lines(pieces) == [(1, 2), (4, 7), (10, 11), (13, 14), (16, 17)]
    assert [piece.symbols for piece in pieces] == [(), ("f",), ("Cart",), ("first",), ("second",)]
    assert [piece.scope for piece in pieces] == [(), (), (), ("Cart",), ("Cart",)]


def test_definitions_keeps_a_type_without_functions_whole() -> None:
    text = "struct P {\n  x: i32,\n}\nimpl P {\n  /// Doc.\n  fn m() {\n  }\n}\nconst A: i32 = 1;\n"
    pieces = cut("definitions", text, "rust")
    # The brace that closes the block has no piece of its own.
    assert lines(pieces) == [(1, 3), (4, 4), (5, 8), (9, 9)]


def test_definitions_cuts_a_long_function_and_mixes_it_with_nothing() -> None:
    body = "".join(f"    statement_{n}()\n" for n in range(8))
    pieces = cut("definitions", f"x = 1\ndef long():\n{body}y = 100\n", "python", size=60)
    assert lines(pieces) == [(1, 1), (2, 2), (3, 6), (7, 10), (11, 11)]


@given(st.lists(st.integers(1, 60), min_size=2, max_size=12), st.data())
def test_an_edit_moves_no_other_definition(sizes: list[int], data: st.DataObject) -> None:
    def text(edited: int) -> str:
        return "".join(
            f"def f{n}():\n" + f"    call({n})\n" * (size + (n == edited)) + f"x{n} = 1\n"
            for n, size in enumerate(sizes)
        )

    edited = data.draw(st.integers(0, len(sizes) - 1))
    old = {piece.text for piece in cut("definitions", text(-1), "python", size=100)}
    new = {piece.text for piece in cut("definitions", text(edited), "python", size=100)}
    for piece in old ^ new:
        assert f"call({edited})" in piece or f"def f{edited}" in piece


def test_a_comment_stays_with_what_it_is_about() -> None:
    text = "\n".join(f"// About f{n}.\n#[inline]\nfn f{n}() {{ body({n}); }}" for n in range(4))
    pieces = cut("syntax", text + "\n", "rust", size=45)
    assert lines(pieces) == [(1, 3), (4, 6), (7, 9), (10, 12)]
    assert pieces[2].text.startswith("// About f2.")


def test_a_closing_brace_is_no_piece_of_its_own() -> None:
    body = "".join(f"    statement_{n}();\n" for n in range(8))
    pieces = cut("syntax", f"fn long() {{\n{body}}}\n", "rust", size=60)
    assert pieces[-1].text.strip() != "}"
    assert pieces[-1].scope == ("long",)


def test_a_huge_leaf_is_cut_by_lines() -> None:
    text = 'x = """\n' + "word\n" * 50 + '"""\n'
    pieces = cut("syntax", text, "python", size=40)
    assert len(pieces) >= 5
    assert lines(pieces)[0][0] == 1
    assert lines(pieces)[-1][1] == 52


def test_two_blocks_that_share_a_line_are_both_split() -> None:
    one = "".join(f"    one({n});\n" for n in range(10))
    two = "".join(f"    two({n});\n" for n in range(10))
    text = f"if (a) {{\n{one}}} else {{\n{two}}}\n"
    for piece in cut("syntax", text, "javascript", size=60):
        assert sum(len(line.replace(" ", "")) for line in piece.text.split("\n")) <= 66


def test_a_hundred_levels_deep() -> None:
    text = "".join(f"{' ' * n}if condition_{n}:\n" for n in range(100)) + " " * 100 + "pass\n"
    assert lines(cut("syntax", text, "python", size=200))[-1][1] == 101
    calls = "call(\n" * 1000 + ")\n" * 1000
    assert lines(cut("syntax", calls, "javascript", size=100))[-1][1] == 2000


@pytest.mark.parametrize(
    ("language", "reason"), [("cobol", "no-grammar"), ("json", "no-grammar"), ("python", "")]
)
def test_a_fallback_says_why(language: str, reason: str) -> None:
    split = create_chunker("syntax").split("x = 1\n", language)
    assert split.fallback == reason
    assert len(split.pieces) == 1


def test_what_is_too_much_to_parse_is_cut_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.corpus.chunkers.syntax.MAX_CHARACTERS", 3)
    assert create_chunker("syntax").split("x = 1", "python").fallback == "too-large-to-parse"
    monkeypatch.setattr("karat.corpus.chunkers.syntax.MAX_CHARACTERS", 300)
    monkeypatch.setattr("karat.corpus.chunkers.syntax.parse", lambda *_: None)
    assert create_chunker("auto").split("x = 1", "python").fallback == "parse-timeout"


def test_auto_works_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    with_grammars = create_chunker("auto").spec
    monkeypatch.setattr("karat.corpus.chunkers.syntax.grammar_version", lambda: "")
    split = create_chunker("auto").split("def f(): pass\n", "python")
    assert split.fallback == "no-extra-code"
    assert split.pieces[0].kind == "lines"
    assert create_chunker("auto").spec.digest != with_grammars.digest


def test_long_lines_are_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    really = syntax._groups

    def counted(nodes: list[object], rows: tuple[int, int]) -> object:
        looked.append(len(nodes))
        return really(nodes, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(syntax, "_groups", counted)
    text = "(function () {\n" + "a(b(c(d(e(1)))));" * 300 + "\n" + "f(g(1));" * 300 + "\n})();\n"
    assert lines(cut("syntax", text, "javascript", size=500)) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert sum(looked) < 1000
