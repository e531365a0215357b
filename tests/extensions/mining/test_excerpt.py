"""What an excerpt of a Python file tells about a change is what the whole file tells."""

from hypothesis import assume, given
from hypothesis import strategies as st

from karat.corpus.chunkers.grammars import parse
from karat.extensions.mining.commits import Hunk, regions
from karat.extensions.mining.targets import excerpts, trees_equal

CODE = """\
import os

x = 1
# About A.
class A:
    a = 1

    def f(self):
        return 1

    @property
    def g(self):
        return 2

    def h(self):
        return 3


# About B.
@decorated
class B:

    def i(self):
        return 4
def j():
    return 5

    def k(self):
        return 6
"""
LINES = CODE.splitlines(keepends=True)


def lines_left(excerpt: str) -> list[int]:
    return [number for number, line in enumerate(excerpt.split("\n"), start=1) if line]


def at(text: str) -> int:
    return LINES.index(text) + 1


def replaced(number: int, text: str) -> tuple[str, str]:
    new = [*LINES[: number - 1], text, *LINES[number:]]
    return excerpts(LINES, new, [Hunk(number, 1, number, 1)])


def test_the_changed_part_the_head_and_the_end_stay() -> None:
    old, new = replaced(at("        return 2\n"), "        return 9\n")
    assert lines_left(old) == [3, 4, 5, 6, 11, 12, 13, 15, 16]
    assert old.count("\n") == len(LINES)
    assert new == old.replace("return 2", "return 9")


def test_an_outermost_statement_stays_alone() -> None:
    old, _ = replaced(1, "import sys\n")
    assert lines_left(old) == [1]


def test_comments_and_decorators_stay_with_what_they_belong_to() -> None:
    old, _ = replaced(at("@decorated\n"), "@other\n")
    assert lines_left(old)[:3] == [19, 20, 21]


def test_a_statement_that_follows_without_a_blank_line_hides_its_parts() -> None:
    old, _ = replaced(at("        return 6\n"), "        return 9\n")
    assert lines_left(old) == [19, 20, 21, 23, 24, 25, 26, 28, 29]


def test_insertions_and_lines_that_move() -> None:
    added = ["        print(1)\n", "        print(2)\n"]
    before = at("        return 1\n") - 1
    after = at("        return 3\n")
    new = [*LINES[:before], *added, *LINES[before : after - 1], *LINES[after:]]
    hunks = [Hunk(before, 0, before + 1, 2), Hunk(after, 1, after + 1, 0)]
    old_excerpt, new_excerpt = excerpts(LINES, new, hunks)
    assert lines_left(old_excerpt) == [3, 4, 5, 6, 8, 9, 15, 16]
    assert lines_left(new_excerpt) == [3, 4, 5, 6, 8, 9, 10, 11, 17]
    assert new_excerpt.count("\n") == len(new)


def test_nothing_is_cut_within_a_string() -> None:
    lines = ["x = '''\n", "\n", 'y = """\n', "\n", "'''\n", "\n", "z = 1\n"]
    old, _ = excerpts(lines, ["z" + lines[0][1:], *lines[1:]], [Hunk(1, 1, 1, 1)])
    assert old == "".join(lines[:6]) + "\n"


def test_a_cut_within_brackets_shows_as_an_error() -> None:
    lines = ["x = [\n", "\n", "1, 2\n", "]\n"]
    old, _ = excerpts(lines, ["z" + lines[0][1:], *lines[1:]], [Hunk(1, 1, 1, 1)])
    parsed = parse(old, "python")
    assert parsed is not None
    assert parsed.root.has_error


def test_an_empty_file() -> None:
    assert excerpts([], ["a\n"], [Hunk(0, 0, 1, 1)]) == ("", "a\n")


PIECES = [
    "import os\n",
    "\n",
    "\n\n",
    "# comment\n",
    "def f():\n    pass\n",
    "def f():\n    def g():\n        pass\n\n    return g\n",
    "class A:\n    x = 1\n",
    "class A:\n\n    def f(self):\n        pass\n\n    @b\n    def g(self):\n        pass\n",
    "    def h(self):\n        return 1\n",
    "    # inner\n    def i(self):\n        return [\n1,\n\n2]\n",
    '    def j(self):\n        """Say.\n\n    def k():\n        """\n',
    "@b\nclass C(A):\n    '''Doc.'''\n",
    'TEXT = """\n\nclass D:\n\n    def f(self): pass\n"""\n',
    "if x:\n    def f():\n        pass\n\nelse:\n    y = 1\n",
    "try:\n    a\nexcept B:\n    c\n",
    'class A:\n    X = """\n\nclass D:\n\n    def f(a): pass\n"""\n\n    def h(a):\n        f()\n',
]
sources = st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map("".join)


@given(sources, st.data())
def test_the_excerpt_agrees_with_the_whole(text: str, data: st.DataObject) -> None:
    lines = text.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    gone = data.draw(st.integers(0, min(3, len(lines) - at)))
    come = data.draw(st.lists(st.sampled_from(["# new\n", "\n", "    z = 1\n", "z\n"]), max_size=3))
    assume(gone or come)
    new = [*lines[:at], *come, *lines[at + gone :]]
    hunk = Hunk(at + (gone > 0), gone, at + (len(come) > 0), len(come))
    before, after = excerpts(lines, new, [hunk])
    assert (before.count("\n"), after.count("\n")) == (len(lines), len(new))
    part, whole = parse(before, "python"), parse(text, "python")
    assert part is not None
    assert whole is not None
    assume(not part.root.has_error and not whole.root.has_error)
    assert list(regions([hunk], text, part)) == list(regions([hunk], text, whole))
    new_part, new_whole = parse(after, "python"), parse("".join(new), "python")
    assert new_part is not None
    assert new_whole is not None
    assume(not new_part.root.has_error and not new_whole.root.has_error)
    assert trees_equal(part, new_part) == trees_equal(whole, new_whole)
