"""A parse that ends: by the clock, and at once on what only tests a parser."""

import random
from itertools import count
from pathlib import Path

import pytest

from karat.corpus import symbols
from karat.corpus.chunkers import grammars
from karat.corpus.chunkers.grammars import GRAMMARS, definition_query, parse, symbol_query

# 8 kB that never repeat, with characters of one to three bytes.
TEXT = "".join(f"größe{n}日 = {n}\n" for n in range(400))


@pytest.mark.parametrize("limit", range(16))
def test_a_parse_that_takes_too_long_is_given_up(limit: int) -> None:
    # A clock that a look at it moves by a second: each block of the text takes one, or more.
    ticks = count()
    assert parse(TEXT, "python", limit_s=limit, clock=lambda: next(ticks)) is None
    assert next(ticks) == limit + 2  # after the start, and each second up to the one too many


def test_a_parse_within_its_limit_is_kept() -> None:
    ticks = count()
    assert parse(TEXT, "python", limit_s=1000, clock=lambda: next(ticks)) is not None
    assert next(ticks) > 16


def test_what_was_read_in_blocks_is_the_whole_text() -> None:
    parsed = parse(TEXT, "python")
    assert parsed is not None
    assert parsed.root.end_byte == len(TEXT.encode())
    assert [symbol.name for symbol in symbols(TEXT, "python")] == [
        f"größe{n}日" for n in range(400)
    ]


@pytest.mark.parametrize(
    ("unit", "language"),
    [
        ("(", "typescript"),
        ("[ ", "python"),
        ("{a: ", "javascript"),
        ("]", "typescript"),
        ("if ", "javascript"),
        ("class ", "python"),
        ("x\n<", "csharp"),
        ("x|", "bash"),
        ("`${", "typescript"),
    ],
)
def test_what_only_tests_a_parser_is_not_parsed(unit: str, language: str) -> None:
    riddle = f"x = 1\n{unit * 100_000}"
    assert parse(riddle, language) is None
    assert symbols(riddle, language) == []


@pytest.mark.parametrize(
    ("unit", "language"), [("{{a{}, ", "javascript"), ("x{}<", "csharp"), ("x{} | ", "bash")]
)
def test_what_nobody_closes_is_not_parsed(unit: str, language: str) -> None:
    assert parse("".join(unit.format(n) for n in range(6000)), language) is None
    assert parse("".join(unit.format(n) for n in range(200)), language) is not None


def test_encoded_data_is_no_riddle() -> None:
    chance = random.Random(1)
    data = "".join(chance.choices("abcXYZ019+/=%\\'", k=100_000))
    assert [symbol.name for symbol in symbols(f'def f(): ...\nX = """{data}"""\n', "python")] == [
        "f",
        "X",
    ]


@pytest.mark.parametrize(
    ("words", "language"), [(("if", "while", "until"), "bash"), (("&^", "|=", "<<="), "go")]
)
def test_words_that_fit_nowhere_are_given_up(words: tuple[str, ...], language: str) -> None:
    chance = random.Random(1)
    assert parse(" ".join(chance.choices(words, k=60_000)), language) is None
    assert parse(" ".join(chance.choices(words, k=2_000)), language) is not None


@pytest.mark.parametrize(
    "between", [" " * 20_000, "\n" * 20_000, "x = [" + "0, " * 2_000 + "]\n"], ids=len
)
def test_repetition_alone_is_no_riddle(between: str) -> None:
    assert [symbol.name for symbol in symbols(f"{between}\ndef f(): ...\n", "python")][-1:] == ["f"]


def test_every_grammar_has_a_query_and_every_query_a_grammar() -> None:
    files = Path(grammars.__file__).parent.joinpath("queries").iterdir()
    assert {file.name for file in files} == {f"{name}.scm" for name in GRAMMARS}
    assert all(symbol_query(name).pattern_count for name in GRAMMARS)


def test_a_query_begins_with_the_one_that_it_inherits() -> None:
    for name, other in (("cpp", "c"), ("typescript", "javascript"), ("tsx", "typescript")):
        assert definition_query(name).startswith(definition_query(other))
