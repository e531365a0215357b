"""Whether a change altered code, language by language."""

import pytest

from karat.corpus.chunkers.grammars import GRAMMARS, parse
from karat.extensions.mining.commits import Hunk
from karat.extensions.mining.targets import alters_code, trees_equal

PYTHON = """\
import os

def f(x):
    \"\"\"Return it.\"\"\"
    for y in x:
        print(y)
        done(y)
    return "a"
"""

SAME = {
    "a comment": PYTHON.replace("print(y)", "print(y)  # all of them"),
    "a comment on a line": PYTHON.replace("    for", "    # Each of them.\n    for"),
    "a docstring": PYTHON.replace("Return it.", "Return\n\n    all of it."),
    "no docstring": PYTHON.replace('    """Return it."""\n', ""),
    "blank lines": PYTHON.replace("\n\n", "\n\n\n\n"),
    "line ends": PYTHON.replace("\n", "\r\n"),
    "more indentation": PYTHON.replace("        ", "            "),
    "a continued line": PYTHON.replace("for y in x", "for y \\\n      in x"),
    "spaces": PYTHON.replace("print(y)", "print( y )"),
    "a docstring of the module": f'"""Says what."""\n{PYTHON}',
}

OTHER = {
    "a name": PYTHON.replace("print(y)", "print(x)"),
    "a string": PYTHON.replace('"a"', '"b"'),
    "white space in a string": PYTHON.replace('"a"', '"a "'),
    "an operator": PYTHON.replace("in x", "in +x"),
    "a statement moved out of the loop": PYTHON.replace("        done", "    done"),
    "a statement moved into the loop": PYTHON.replace("    return", "        return"),
    "two statements swapped": PYTHON.replace("print(y)\n        done", "done(y)\n        print"),
    "a statement more": PYTHON.replace("import os", "import os\nimport sys"),
    "a function that became a comment": PYTHON.replace("        done(y)", "        # done(y)"),
    "a string that does something": PYTHON.replace('"""Return it."""', 'f"{x()}"'),
    "one word of two": PYTHON.replace("import os", "import o s"),
}


def code_equal(old: str, new: str, language: str) -> bool:
    one, other = parse(old, language), parse(new, language)
    assert one is not None
    assert other is not None
    return trees_equal(one, other)


@pytest.mark.parametrize("name", SAME)
def test_equal(name: str) -> None:
    assert SAME[name] != PYTHON
    assert code_equal(PYTHON, SAME[name], "python")
    assert code_equal(SAME[name], PYTHON, "python")


@pytest.mark.parametrize("name", OTHER)
def test_not_equal(name: str) -> None:
    assert OTHER[name] != PYTHON
    assert not code_equal(PYTHON, OTHER[name], "python")
    assert not code_equal(OTHER[name], PYTHON, "python")


# A text, the same with other comments and layout, and one with other code.
LANGUAGES = {
    "bash": ("f() {\n  a b\n}\n", "# why\nf() {\n    a b # c\n}\n", "f() {\n  a c\n}\n"),
    "c": (
        "int f() { return 1; }\n",
        "/* one */\nint f()\n{ return 1; }\n",
        "int f() { return 2; }\n",
    ),
    "cpp": ("int f() { return 1; }\n", "int f() {\n  return 1; // 1\n}\n", "int f() { g(); }\n"),
    "csharp": (
        "class A { int F() { return 1; } }\n",
        "/// <summary>one</summary>\nclass A {\n int F() { return 1; } }\n",
        "class A { int F() { return 2; } }\n",
    ),
    "dart": (
        "int f() { return 1; }\n",
        "/// One.\nint f() {\n return 1; }\n",
        "int f() { return 2; }\n",
    ),
    "elixir": ("def f(x), do: x\n", "# why\ndef f(x), do: x\n", "def f(x), do: -x\n"),
    "go": (
        "package a\n\nfunc F() int {\n\treturn 1\n}\n",
        "package a\n\n// F is one.\nfunc F() int {\n\n\treturn 1 // one\n}\n",
        "package a\n\nfunc F() int {\n\treturn 2\n}\n",
    ),
    "haskell": ("f x = x + 1\n", "-- | One more.\nf x = x + 1\n", "f x = x + 2\n"),
    "java": (
        "class A { int f() { return 1; } }\n",
        "/** One. */\nclass A {\n  int f() { return 1; }\n}\n",
        "class A { int f() { return 2; } }\n",
    ),
    "javascript": ("f(`a`);\n", "// why\nf( `a` );\n", "f(`a `);\n"),
    "julia": ("f(x) = x + 1\n", "# why\nf(x) = x + 1\n", "f(x) = x + 2\n"),
    "kotlin": ('fun f() = "a"\n', '/** One. */\nfun f() =\n  "a"\n', 'fun f() = "b"\n'),
    "lua": (
        "function f() return 1 end\n",
        "-- one\nfunction f()\n return 1 end\n",
        "function f() return 2 end\n",
    ),
    "php": ("<?php\nf(1);\n", "<?php\n// why\nf( 1 );\n", "<?php\nf(2);\n"),
    "proto": (
        'syntax = "proto3";\nmessage A { int32 x = 1; }\n',
        'syntax = "proto3";\n// One.\nmessage A {\n  int32 x = 1;\n}\n',
        'syntax = "proto3";\nmessage A { int32 x = 2; }\n',
    ),
    "python": ("f(1)\n", "f( 1 )  # why\n", "f(2)\n"),
    "ruby": ("x = <<~A\n  text\nA\n", "# why\nx = <<~A\n  text\nA\n", "x = <<~A\n  other\nA\n"),
    "rust": (
        "fn f() -> u8 { 1 }\n",
        "/// One.\nfn f() -> u8 {\n    1\n}\n",
        "fn f() -> u8 { 2 }\n",
    ),
    "scala": ("def f = 1\n", "/** One. */\ndef f = 1 // one\n", "def f = 2\n"),
    "swift": (
        "func f() -> Int { 1 }\n",
        "/// One.\nfunc f() -> Int {\n 1 }\n",
        "func f() -> Int { 2 }\n",
    ),
    "tsx": ("const a = <b>x</b>;\n", "// why\nconst a = <b>x</b>;\n", "const a = <b>y</b>;\n"),
    "typescript": ("let a: X = 1;\n", "/* why */\nlet a: X =\n  1;\n", "let a: Y = 1;\n"),
    "zig": ("const a = 1;\n", "/// One.\nconst a = 1; // one\n", "const a = 2;\n"),
}


def test_every_grammar_is_tried() -> None:
    assert set(LANGUAGES) == GRAMMARS


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language(language: str) -> None:
    text, same, other = LANGUAGES[language]
    assert code_equal(text, same, language)
    assert not code_equal(text, other, language)
    assert not code_equal(same, other, language)


def test_nothing_is_equal_to_a_comment() -> None:
    assert code_equal("", "# a\n", "python")
    assert code_equal("def f():\n    'a'\n", "def f():\n    'b'\n    # c\n", "python")


def test_deep_nesting_is_no_problem() -> None:
    deep = "(" * 3000 + ")" * 3000
    assert not code_equal(f"f{deep}\n", f"f{deep[1:-1]}\n", "python")
    assert code_equal(f"f{deep}\n", f"f{deep}  # deep\n", "python")


@pytest.mark.parametrize(
    ("old_line", "new", "expected"),
    [
        ("        print(y)\n", "        print(x)\n", True),
        ("        print(y)\n", "            print( y )\n", False),
        ("        print(y)\n", "        print(x)  # x\n", False),
        ("import os\n", "import sys\n", True),
        ('    """Return it."""\n', '    """Return all."""\n', False),
    ],
)
def test_changed_lines_alone(old_line: str, new: str, expected: bool) -> None:
    lines = PYTHON.splitlines(keepends=True)
    number = lines.index(old_line) + 1
    parsed = parse(PYTHON, "python")
    assert parsed is not None
    after = [*lines[: number - 1], new, *lines[number:]]
    assert alters_code(parsed, [Hunk(number, 1, number, 1)], lines, after) is expected


def test_lines_within_a_docstring_say_nothing() -> None:
    text = 'def f():\n    """Return\n\n    x = 1\n    """\n    return 1\n'
    lines = text.splitlines(keepends=True)
    parsed = parse(text, "python")
    assert parsed is not None
    for at, expected in ((3, False), (4, False), (5, True), (6, True)):
        after = [*lines[:at], "    y = 2\n", *lines[at:]]
        assert alters_code(parsed, [Hunk(at, 0, at + 1, 1)], lines, after) is expected


@pytest.mark.parametrize("name", [*SAME, *OTHER])
def test_what_the_lines_say_agrees_with_the_trees(name: str) -> None:
    old, new = PYTHON, (SAME | OTHER)[name]
    lines, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    parsed = parse(old, "python")
    assert parsed is not None
    if alters_code(parsed, [Hunk(1, len(lines), 1, len(after))], lines, after):
        assert not code_equal(old, new, "python")
