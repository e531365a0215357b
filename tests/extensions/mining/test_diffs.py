"""Which lines a commit changed, against what was committed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.extensions.mining.commits import FileDiff, Hunk, UnreadableCommits, diffs, each_diff
from karat.extensions.mining.scan import scan

if TYPE_CHECKING:
    from tests.git_history import Builder

FILE, PROGRAM, LINK, MODULE = "100644", "100755", "120000", "160000"
TEN = "".join(f"line {number}\n" for number in range(1, 11))


def files_of(history: "Builder", commit: str) -> dict[str, FileDiff]:
    ((commit_diffs, files),) = diffs(history.path, [commit])
    assert commit_diffs == commit
    return {file.change.path: file for file in files}


def test_replaced_removed_and_added_lines(history: "Builder") -> None:
    history.commit({"a.py": TEN})
    lines = TEN.splitlines(keepends=True)
    lines[8:9] = []
    lines[4:4] = ["new\n", "new\n"]
    lines[1:3] = ["other\n"]
    tip = history.commit({"a.py": "first\n" + "".join(lines)})
    (file,) = files_of(history, tip).values()
    assert file.hunks == (Hunk(0, 0, 1, 1), Hunk(2, 2, 3, 1), Hunk(4, 0, 5, 2), Hunk(9, 1, 10, 0))
    assert (file.change.status, file.is_binary) == ("M", False)


def test_renames_are_followed(history: "Builder") -> None:
    history.commit({"a.py": TEN, "case.py": "case\n" * 3})
    tip = history.commit(
        {"a.py": None, "b.py": f"{TEN}more\n", "case.py": None, "Case.py": "case\n" * 3}
    )
    files = files_of(history, tip)
    assert {path: file.change.old_path for path, file in files.items()} == {
        "b.py": "a.py",
        "Case.py": "case.py",
    }
    assert (files["b.py"].change.status, files["b.py"].hunks) == ("R", (Hunk(10, 0, 11, 1),))
    assert (files["Case.py"].change.status, files["Case.py"].hunks) == ("R", ())


def test_any_two_commits_and_some_of_their_files(history: "Builder") -> None:
    first = history.commit({"a[1]": TEN, "a1": "a\n", "b": "b\n"})
    history.commit({"a1": "A\n", "b": "B\n"})
    tip = history.commit({"a[1]": None, "c": f"line 1\n{'other' * 99}\n"})
    ((_, files),) = diffs(history.path, [f"{tip} {first}"])
    assert [file.change.path for file in files] == ["a1", "a[1]", "b", "c"]
    ((_, files),) = diffs(history.path, [f"{tip} {first}"], alike=1, paths=["a[1]", "c"])
    assert [(file.change.old_path, file.change.path) for file in files] == [("a[1]", "c")]
    assert files[0].hunks == (Hunk(2, 9, 2, 1),)


def test_what_has_no_lines(history: "Builder") -> None:
    module = history.commit({"run": "x\n", "image": b"\0\1", "file": "text\n", "sub": (LINK, "a")})
    tip = history.commit(
        {
            "run": (PROGRAM, "x\n"),
            "image": b"\0\2",
            "file": (LINK, "run"),
            "sub": (MODULE, module),
            "z": "z\n",
        }
    )
    files = files_of(history, tip)
    assert [(path, file.change.status, file.is_binary) for path, file in files.items()] == [
        ("file", "T", False),
        ("image", "M", True),
        ("run", "M", False),
        ("sub", "T", False),
        ("z", "A", False),
    ]
    assert files["file"].hunks == (Hunk(1, 1, 0, 0),)
    assert files["run"].hunks == files["image"].hunks == ()
    assert files["z"].hunks == (Hunk(0, 0, 1, 1),)


def test_files_that_look_like_patches(history: "Builder") -> None:
    odd = "diff --git a/x b/x\n@@ -1,2 +3,4 @@\n\x01\nBinary files differ\n-- \n++ \n"
    history.commit({"a": f"{odd}end", "b\n\x01c": "x\r\ny\r\n"})
    tip = history.commit({"a": f"new\n{odd}end\n", "b\n\x01c": "x\r\nz\r\n", "c": odd})
    files = files_of(history, tip)
    # The last line has got its line end.
    assert files["a"].hunks == (Hunk(0, 0, 1, 1), Hunk(7, 1, 8, 1))
    assert files["b\n\x01c"].hunks == (Hunk(2, 1, 2, 1),)
    assert files["c"].hunks == (Hunk(0, 0, 1, 6),)
    assert not any(file.is_binary for file in files.values())


def test_roots_merges_and_empty_commits(history: "Builder") -> None:
    root = history.commit({"a": "a\n"})
    side = history.commit({"b": "b\n"}, branch="side", parents=[root])
    main = history.commit({"a": "A\n"})
    merge = history.commit({"b": "b\n"}, parents=[main, side])
    empty = history.commit({})
    paths = {
        commit: [file.change.path for file in files]
        for commit, files in diffs(history.path, [empty, merge, main, side, root])
    }
    assert paths == {empty: [], merge: ["b"], main: ["a"], side: ["b"], root: ["a"]}


def test_a_missing_file_costs_the_commits_that_need_it(history: "Builder") -> None:
    ids = [history.commit({"a": f"{number}\n"}) for number in range(6)]
    history.lose(f"{ids[3]}:a")
    unreadable = UnreadableCommits()
    commit_ids = [commit for commit, _ in diffs(history.path, ids, unreadable=unreadable)]
    assert commit_ids == [ids[0], ids[1], ids[2], ids[5]]
    assert [lost.commit for lost in unreadable.unreadable] == [ids[3], ids[4]]
    with pytest.raises(InputError, match="git diff-tree"):
        list(diffs(history.path, ids))


def test_a_partial_clone_reads_what_it_has(history: "Builder", tmp_path: Path) -> None:
    large = "x" * 5000
    ids = [history.commit({"a": text}) for text in ("1\n", large, "2\n", "3\n")]
    history.git("config", "uploadpack.allowFilter", "true")
    part = str(tmp_path / "part")
    url = history.folder.as_uri()
    history.git("clone", "--quiet", "--bare", "--filter=blob:limit=1k", url, part)
    unreadable = UnreadableCommits()
    assert [commit for commit, _ in diffs(part, ids, unreadable=unreadable)] == [ids[0], ids[3]]
    assert [lost.commit for lost in unreadable.unreadable] == ids[1:3]


def test_a_patch_that_does_not_fit_its_records(
    history: "Builder", monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit({"a": "a\n"})
    tip = history.commit({"a": "b\n"})

    def records_only(
        *arguments: str, unreadable: UnreadableCommits | None
    ) -> Iterator[tuple[str, bytes]]:
        for commit, printed in each_diff(*arguments, unreadable=unreadable):
            yield commit, printed.partition(b"\0\0")[0]

    monkeypatch.setattr("karat.extensions.mining.commits.each_diff", records_only)
    unreadable = UnreadableCommits()
    assert list(diffs(history.path, [tip], unreadable=unreadable)) == []
    assert [lost.commit for lost in unreadable.unreadable] == [tip]


def test_nothing_that_the_repository_names_is_run(history: "Builder", tmp_path: Path) -> None:
    history.commit({"a.txt": TEN, "b.txt": "x\n"})
    tip = history.commit({"a.txt": None, "c.txt": f"{TEN}more\n", "b.txt": "y\n"})
    before = files_of(history, tip)
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    for setting in ("diff.external", "diff.trap.textconv", "diff.trap.command", "gpg.program"):
        history.git("config", setting, str(trap))
    for setting, value in (
        ("diff.renames", "false"),
        ("diff.renameLimit", "1"),
        ("diff.context", "5"),
        ("diff.interHunkContext", "9"),
        ("diff.algorithm", "patience"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.wordRegex", "."),
        ("color.diff", "always"),
        ("core.hooksPath", str(tmp_path)),
    ):
        history.git("config", setting, value)
    (history.folder / "info" / "attributes").write_text("* diff=trap\n", encoding="utf-8")
    assert files_of(history, tip) == before
    assert not (tmp_path / "sprung").exists()


def test_attributes_of_a_work_tree_change_no_truth(history: "Builder", tmp_path: Path) -> None:
    history.commit({"src/a.py": TEN})
    tip = history.commit({"src/a.py": TEN.replace("5", "five")})
    clone = tmp_path / "clone"
    history.git("clone", "--quiet", history.path, str(clone))
    (clone / ".gitattributes").write_text("*.py -diff\n", encoding="utf-8")
    commit_diffs = list(diffs(history.path, [tip]))
    assert commit_diffs[0][1][0].hunks == (Hunk(5, 1, 5, 1),)
    assert list(diffs(str(clone), [tip])) == commit_diffs
    assert list(diffs(str(clone / "src"), [tip])) == commit_diffs


def test_a_large_patch_comes_in_many_blocks(history: "Builder") -> None:
    history.commit({"a": "".join(f"{number}\n" for number in range(50_000))})
    tip = history.commit({"a": "".join(f"{number}.\n" for number in range(50_000)), "b": "b\n"})
    after = history.commit({"b": "c\n"})
    (one, files), (two, _) = diffs(history.path, [tip, after])
    assert (one, two) == (tip, after)
    assert [file.hunks for file in files] == [(Hunk(1, 50_000, 1, 50_000),), (Hunk(0, 0, 1, 1),)]


texts = st.lists(
    st.sampled_from(["a\n", "b\n", "\n", "@@ -1 +1 @@\n", "\r\n", "\f\n"]), max_size=12
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, min_size=2, max_size=5))
def test_outside_of_the_hunks_nothing_changed(
    new_history: Callable[[], "Builder"], versions: list[list[str]]
) -> None:
    history = new_history()
    ids = [history.commit({"f": "".join(lines)}) for lines in versions]
    for number, (_, files) in enumerate(diffs(history.path, ids[1:])):
        old, new = list(versions[number]), list(versions[number + 1])
        hunks = files[0].hunks if files else ()
        for hunk in reversed(hunks):
            start = hunk.old_start - (hunk.old_lines > 0)
            del old[start : start + hunk.old_lines]
            start = hunk.new_start - (hunk.new_lines > 0)
            del new[start : start + hunk.new_lines]
        assert old == new
        assert bool(hunks) == (versions[number] != versions[number + 1])


def test_commits_are_those_of_a_scan(history: "Builder") -> None:
    history.commit({"a": "a\n"})
    history.commit({"a": "b\n"})
    scanned = list(scan(history.path))
    commit_diffs = dict(diffs(history.path, [commit.id for commit in scanned]))
    for commit in scanned:
        assert tuple(file.change for file in commit_diffs[commit.id]) == commit.changes
