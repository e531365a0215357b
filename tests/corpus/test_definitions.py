"""Definitions, language by language."""

import importlib.util
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from karat.corpus.chunkers import grammars
from karat.corpus.chunkers.grammars import GRAMMARS, Symbol, parse, symbols, tree_symbols
from karat.errors import MissingExtra


def load_samples() -> ModuleType:
    """Return samples.py; the tests are no package that could import it by name."""
    path = Path(__file__).with_name("samples.py")
    spec = importlib.util.spec_from_file_location("corpus_samples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SAMPLES: dict[str, tuple[str, list[str]]] = load_samples().SAMPLES


def test_every_grammar_has_a_sample() -> None:
    assert set(SAMPLES) == GRAMMARS
    assert len(GRAMMARS) >= 15


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_definitions_are_found(language: str) -> None:
    text, expected = SAMPLES[language]
    definitions = symbols(text, language)
    assert [f"{symbol.kind} {symbol.qualified}" for symbol in definitions] == expected


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_lines_are_those_of_the_text(language: str) -> None:
    text, _ = SAMPLES[language]
    lines = text.split("\n")
    for symbol in symbols(text, language):
        assert 1 <= symbol.start_line <= symbol.end_line < len(lines)
        assert symbol.name in "\n".join(lines[symbol.start_line - 1 : symbol.end_line])


def test_a_definition_has_its_decorators_and_its_end() -> None:
    text = "@a\n@b(\n  1)\ndef f():\n    x = 1\n\n    return x\n\n\nY = 2\n"
    assert symbols(text, "python") == [
        Symbol("f", "function", 1, 7),
        Symbol("Y", "constant", 10, 10),
    ]


def test_a_dart_function_has_its_body() -> None:
    assert symbols(SAMPLES["dart"][0], "dart")[1] == Symbol("total", "method", 2, 4, "Cart")


def test_names_beyond_ascii() -> None:
    definitions = symbols("# äöü 日本\ndef größe():\n    pass\n", "python")
    assert definitions == [Symbol("größe", "function", 2, 3)]


def test_no_grammar_no_symbols() -> None:
    assert symbols("x", "cobol") == []
    assert symbols("# A", "markdown") == []


def test_many_signs_are_still_code() -> None:
    table = "x = [" + "(), " * 1500 + "]\ndef f(): ...\n"
    assert [symbol.name for symbol in symbols(table, "python")] == ["x", "f"]


def test_definitions_deep_inside_others() -> None:
    nested = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(90))
    assert len(symbols(f"{nested}{' ' * 90}pass\n", "python")) == 90


PROBE = """
import random, sys
from karat.corpus.chunkers.grammars import GRAMMARS
from karat.corpus.chunkers.grammars import symbols
from karat.corpus.chunkers.syntax import Syntax
texts = ["", "x", "\\n", "\\ufeff", "(" * 3000, "{" * 3000, "a" * 9000, '"', "'", "/*", "<?", "\\0",
         "#", "end", "\\\\", "def", "`${`${", "R\\"(", "<<EOF", "=begin", "--[[", "#|", "\\t \\x0b"]
chance = random.Random(7)
signs = "(){}[]<>:;,.\\"'`#/*\\\\-+=|&%$@! \\n\\tabfnéx019日"
texts += ["".join(chance.choices(signs, k=400)) for _ in range(12)]
for language in sorted(GRAMMARS):
    for text in texts:
        symbols(text, language)
        Syntax(size=50).split(text, language)
print("done")
"""


def test_every_grammar_ends_on_broken_input() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("depth", [100, 3000])
def test_deep_nesting(depth: int) -> None:
    text = "".join(f"{' ' * n}if x:\n" for n in range(100)) + " " * 100 + "def deep(): pass\n"
    assert [symbol.name for symbol in symbols(text, "python")] == ["deep"]
    calls = "f(\n" * depth + ")" * depth
    assert symbols(f"function g() {{ {calls} }}", "javascript")[0].name == "g"


@pytest.mark.parametrize("absent", ["tree_sitter", "tree_sitter_language_pack"])
def test_without_the_extra_the_error_says_what_to_install(
    absent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammars.grammar_of.cache_clear()
    monkeypatch.setitem(sys.modules, absent, None)
    assert not grammars.have_grammars()
    with pytest.raises(MissingExtra, match=r"pip install .*\[code\]'"):
        symbols("x = 1", "python")


def test_the_version_of_the_grammars_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    assert grammars.have_grammars()
    assert grammars.grammar_version() == "0.13.0"
    monkeypatch.setattr(metadata, "version", absent)
    grammars.grammar_version.cache_clear()
    assert grammars.grammar_version() == ""
    grammars.grammar_version.cache_clear()


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_the_definitions_at_a_line_are_those_that_the_whole_text_has_there(language: str) -> None:
    text, _ = SAMPLES[language]
    parsed = parse(text, language)
    assert parsed is not None
    for line in range(1, text.count("\n") + 1):
        there = [symbol for symbol in tree_symbols(parsed, (line, line)) if touches(symbol, line)]
        assert there == [symbol for symbol in symbols(text, language) if touches(symbol, line)]


def touches(symbol: Symbol, line: int) -> bool:
    return symbol.start_line <= line <= symbol.end_line
