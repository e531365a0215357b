"""What a commit tells about files, lines and definitions before it, worked by hand."""

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from karat.corpus import from_git, symbols
from karat.corpus.git_objects import ObjectReader
from karat.corpus.snapshot import blob_id
from karat.errors import InputError
from karat.extensions.mining.commits import Hunk, UnreadableCommits, regions
from karat.extensions.mining.targets import TargetFile, read_targets

if TYPE_CHECKING:
    from tests.git_history import Builder

# By its name, since the package has a function of that name.
SOURCE = import_module("karat.extensions.mining.targets")

FILE, PROGRAM, LINK, MODULE = "100644", "100755", "120000", "160000"

CODE = """\
import os


class Store:
    size = 1

    @property
    def first(self):
        return 1

    def second(self):
        def inner():
            return 2

        return inner


def alone():
    return 3
"""


def truth_of(history: "Builder", commit: str, **options: bool) -> dict[str, TargetFile]:
    unreadable = UnreadableCommits()
    ((truths, files),) = read_targets(history.path, [commit], unreadable=unreadable, **options)  # type: ignore[arg-type]
    assert (truths, unreadable.unreadable) == (commit, [])
    return {file.path: file for file in files}


def named(file: TargetFile) -> list[tuple[int, int, int, list[str]]]:
    return [
        (region[0], region[1], region[2], [symbol.qualified for symbol in region.symbols])
        for region in file.regions
    ]


def test_lines_and_the_innermost_definitions_around_them(history: "Builder") -> None:
    history.commit({"a.py": CODE})
    tip = history.commit(
        {
            "a.py": CODE.replace("import os", "import sys")
            .replace("    size = 1", "    size = 9")
            .replace("    @property\n", "    @cached\n")
            .replace("return 2", "return 9")
            .replace("return 3", "return 4\n    return 5")
        }
    )
    file = truth_of(history, tip)["a.py"]
    assert named(file) == [
        (1, 1, 2, []),
        (5, 5, 2, ["Store"]),
        (7, 7, 2, ["Store.first"]),
        (13, 13, 2, ["Store.second.inner"]),
        (19, 19, 2, ["alone"]),
    ]
    assert file[:4] == ("a.py", blob_id(CODE.encode()), "M", "a.py")
    assert (file.grade, file.same_code) == (2, False)


def test_a_range_may_have_several_definitions(history: "Builder") -> None:
    history.commit({"a.py": CODE})
    lines = CODE.splitlines(keepends=True)
    tip = history.commit({"a.py": "".join([*lines[:7], "# gone\n", *lines[13:]])})
    assert named(truth_of(history, tip)["a.py"]) == [
        (8, 13, 2, ["Store.first", "Store", "Store.second", "Store.second.inner"])
    ]


def test_an_insertion_stands_for_the_lines_around_it(history: "Builder") -> None:
    history.commit({"a.py": CODE})
    lines = CODE.splitlines(keepends=True)
    inside = [*lines[:12], "            print(2)\n", *lines[12:]]
    tip = history.commit({"a.py": "".join(["import sys\n", *inside, "more()\n"])})
    file = truth_of(history, tip)["a.py"]
    assert named(file) == [
        (1, 1, 1, []),
        (12, 13, 1, ["Store.second.inner"]),
        (19, 19, 1, ["alone"]),
    ]
    assert file.grade == 1


@pytest.mark.parametrize(
    ("hunk", "last_line", "expected"),
    [
        (Hunk(0, 0, 1, 5), 3, [(1, 1, 1)]),
        (Hunk(3, 0, 4, 5), 3, [(3, 3, 1)]),
        (Hunk(1, 0, 2, 5), 3, [(1, 2, 1)]),
        (Hunk(0, 0, 1, 5), 0, []),
        (Hunk(1, 3, 0, 0), 3, [(1, 3, 2)]),
    ],
)
def test_regions_stay_within_the_file(
    hunk: Hunk, last_line: int, expected: list[tuple[int, int, int]]
) -> None:
    assert [region[:3] for region in regions([hunk], "x\n" * last_line, None)] == expected


def test_files_meant_as_a_whole(history: "Builder") -> None:
    history.commit({"gone.py": CODE, "moved.py": f"{CODE}x = 1\n", "link.py": "a\n"})
    tip = history.commit(
        {
            "gone.py": None,
            "moved.py": None,
            "new.py": f"{CODE}x = 1\n",
            "link.py": (LINK, "new.py"),
        }
    )
    files = truth_of(history, tip)
    assert {path: (file.status, file.new_path) for path, file in files.items()} == {
        "gone.py": ("D", ""),
        "moved.py": ("R", "new.py"),
        "link.py": ("T", "link.py"),
    }
    for file in files.values():
        assert (file.regions, file.grade, file.same_code) == ((), 1, False)


def test_a_renamed_file_is_found_where_it_was(history: "Builder") -> None:
    history.commit({"old.py": CODE})
    tip = history.commit({"old.py": None, "new.py": CODE.replace("return 3", "return 4")})
    (file,) = truth_of(history, tip).values()
    assert (file.path, file.new_path, file.status) == ("old.py", "new.py", "R")
    assert named(file) == [(19, 19, 2, ["alone"])]


def test_added_files_and_unwanted_ones_are_no_targets(history: "Builder") -> None:
    history.commit({"a.py": "a = 1\n", "b.py": "b = 1\n", "old_c.py": "c = 1\n" * 9})
    tip = history.commit(
        {
            "a.py": "a = 2\n",
            "b.py": "b = 2\n",
            "new.py": "n\n",
            "old_c.py": None,
            "c.py": "c = 1\n" * 9,
        }
    )
    asked: list[str] = []

    def selects(path: str) -> bool:
        asked.append(path)
        return path != "b.py"

    ((_, files),) = read_targets(history.path, [tip], selects=selects)
    assert {file.path for file in files} == {"a.py", "old_c.py"}
    assert set(asked) == {"a.py", "b.py", "old_c.py"}


def test_minified_files_are_left_out_unless_they_are_wanted(history: "Builder") -> None:
    long, short = "f(1);" * 1000, "f(1);\n" * 1000
    texts = {"page.js": long, "app.js": short, "data.py": long}
    history.commit({**texts})
    tip = history.commit({path: f"g();{text}" for path, text in texts.items()})
    unreadable = UnreadableCommits()
    ((_, truths),) = read_targets(history.path, [tip], minified=False, unreadable=unreadable)
    assert {file.path for file in truths} == {"app.js", "data.py"}
    assert unreadable.skipped == {"minified": 1}
    ((_, truths),) = read_targets(history.path, [tip])
    assert {file.path for file in truths} == {*texts}


def test_what_no_corpus_would_hold_is_counted(history: "Builder") -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize {}\n"
    first = history.commit(
        {
            "link": (LINK, "a"),
            "image": b"\0",
            "weights": pointer.format(1),
            "large.py": "x = 1\n" * 200_000,
            b"\xff.py": "x = 1\n",
            "run.py": "x = 1\n",
            "empty.py": "",
            "good.py": "x = 1\n",
        }
    )
    history.commit({"module": (MODULE, first)})
    tip = history.commit(
        {
            "link": (LINK, "b"),
            "image": b"\0\1",
            "weights": pointer.format(2),
            "large.py": "x = 2\n" * 200_000,
            b"\xff.py": "x = 2\n",
            "run.py": (PROGRAM, "x = 1\n"),
            "empty.py": "x = 2\n",
            "good.py": "x = 2\n",
            "module": (MODULE, "1" * 40),
        }
    )
    unreadable = UnreadableCommits()
    ((_, files),) = read_targets(history.path, [tip], unreadable=unreadable)
    assert [file.path for file in files] == ["good.py"]
    assert unreadable.skipped == {
        "symlink": 1,
        "binary": 1,
        "lfs-pointer": 1,
        "too-large": 1,
        "name-not-utf-8": 1,
        "mode-only": 1,
        "empty": 1,
        "submodule": 1,
    }


def test_a_revert_points_to_the_same_lines(history: "Builder") -> None:
    history.commit({"a.py": CODE})
    there = history.commit({"a.py": CODE.replace("return 3", "return 4")})
    back = history.commit({"a.py": CODE}, f"Revert\n\nThis reverts commit {there}.")
    one, other = (truth_of(history, commit)["a.py"] for commit in (there, back))
    assert named(one) == named(other) == [(19, 19, 2, ["alone"])]
    assert one.blob != other.blob


def test_windows_line_ends_count_as_one_line(history: "Builder") -> None:
    text = CODE.replace("\n", "\r\n")
    history.commit({"a.py": text})
    tip = history.commit({"a.py": text.replace("return 3", "return 4")})
    assert named(truth_of(history, tip)["a.py"]) == [(19, 19, 2, ["alone"])]


def test_no_line_end_at_the_end(history: "Builder") -> None:
    history.commit({"a.py": "def f():\n    return 1"})
    tip = history.commit({"a.py": "def f():\n    return 2"})
    assert named(truth_of(history, tip)["a.py"]) == [(2, 2, 2, ["f"])]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("    return 3\n", "    return 3  # three\n", True),
        ("    return 3\n", "    return 4\n", False),
        ("def alone():\n", 'def alone():\n    """Return three."""\n', True),
        ("import os\n", "import os\r\n", True),
        ("        return inner\n", "    return inner\n", False),
        ("import os\n\n\n", "import os\n\n", True),
    ],
)
def test_the_same_code(history: "Builder", old: str, new: str, expected: bool) -> None:
    assert old in CODE
    history.commit({"a.py": CODE, "a.md": CODE})
    tip = history.commit({"a.py": CODE.replace(old, new), "a.md": CODE.replace(old, new)})
    files = truth_of(history, tip)
    assert files["a.py"].same_code is expected
    assert files["a.md"].same_code is False


def test_a_file_that_changes_its_language_is_not_the_same(history: "Builder") -> None:
    history.commit({"a.js": "f(1);\n" * 20})
    tip = history.commit({"a.js": None, "a.ts": "f(1);\n" * 20 + "// end\n"})
    (file,) = truth_of(history, tip).values()
    assert (file.status, file.same_code) == ("R", False)


def test_without_syntax_nothing_is_parsed(
    history: "Builder", monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit({"a.py": CODE})
    tip = history.commit({"a.py": f"# new\n{CODE}"})
    monkeypatch.setattr(SOURCE, "parse", None)
    file = truth_of(history, tip, syntax=False)["a.py"]
    assert (named(file), file.same_code) == ([(1, 1, 1, [])], False)


def test_a_text_that_takes_too_long_to_parse(
    history: "Builder", monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit({"a.py": CODE})
    tip = history.commit({"a.py": CODE.replace("return 3", "return 4")})
    monkeypatch.setattr(SOURCE, "parse", lambda *_: None)
    assert named(truth_of(history, tip)["a.py"]) == [(19, 19, 2, [])]


def test_every_target_is_in_the_corpus_of_the_parent(history: "Builder") -> None:
    states = [CODE, CODE.replace("3", "4"), f"{CODE}\n", CODE.replace("os", "sys"), None, CODE]
    ids = [
        history.commit({"a.py": state, "dir/b.py": f"{state}{number}\n"})
        for number, state in enumerate(states)
    ]
    truths = list(read_targets(history.path, ids))
    assert [len(files) for _, files in truths] == [0, 2, 2, 2, 2, 1]
    for commit, files in truths[1:]:
        before = from_git(history.path, f"{commit}^")
        for file in files:
            assert before.by_path[file.path].blob == file.blob
            defined = symbols(before.read(file.path), "python")
            for region in file.regions:
                assert set(region.symbols) <= set(defined)


def test_a_missing_file_costs_its_commits(history: "Builder") -> None:
    ids = [history.commit({"a.py": f"x = {number}\n"}) for number in range(5)]
    history.lose(f"{ids[2]}:a.py")
    unreadable = UnreadableCommits()
    commit_ids = [commit for commit, _ in read_targets(history.path, ids, unreadable=unreadable)]
    assert commit_ids == [ids[0], ids[1], ids[4]]
    assert [lost.commit for lost in unreadable.unreadable] == [ids[2], ids[3]]
    with pytest.raises(InputError, match="git diff-tree"):
        list(read_targets(history.path, ids))


def test_a_file_that_vanishes_meanwhile_is_counted(
    history: "Builder", monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit({"a.py": CODE})
    tip = history.commit({"a.py": f"{CODE}\n"})
    monkeypatch.setattr(ObjectReader, "find", lambda _, oids: [None] * len(oids))
    unreadable = UnreadableCommits()
    assert list(read_targets(history.path, [tip], unreadable=unreadable)) == [(tip, ())]
    assert unreadable.skipped == {"missing": 1}


def test_many_commits_are_read_in_parts(
    history: "Builder", monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [history.commit({"a.py": f"x = {number}\n"}) for number in range(7)]
    expected = list(read_targets(history.path, ids))
    monkeypatch.setattr(SOURCE, "_COMMITS_AT_ONCE", 2)
    assert list(read_targets(history.path, ids)) == expected
    assert [len(files) for _, files in expected] == [0, 1, 1, 1, 1, 1, 1]
