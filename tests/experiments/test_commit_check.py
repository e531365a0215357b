"""What a gold set points to is there, or it is said what is not."""

from typing import TYPE_CHECKING

import pytest

from karat.errors import InputError
from karat.experiments.commit_check import check_presence
from karat.experiments.commit_snapshots import SnapshotReader
from karat.model import Dataset, Query, Target

if TYPE_CHECKING:
    from tests.git_history import Builder

AUTH = "class Session:\n    def login(self):\n        return 1\n\n\ndef logout():\n    pass\n"
FILES: dict[str, str | bytes] = {
    "src/auth.py": AUTH,
    "docs/auth.md": "# Login\n",
    "data.bin": b"\0\1",
    "build.zzz": "run\n",
}


def problems(history: "Builder", *targets: Target, match: str = "exact", **extra: str) -> list[str]:
    data = Dataset.of([Query("q", "who", targets, extra=extra)], match=match)
    return [missing.message for missing in check_presence(data, history.path).missing]


def test_what_is_there_is_no_problem(history: "Builder") -> None:
    history.commit(FILES)
    targets = (
        Target("src/auth.py", 2, 1, 7, "Session.login"),
        Target(".\\src\\auth.py", symbol="logout"),
        Target("docs/auth.md", 0, 1, 1),
        Target("data.bin"),
        Target("build.zzz", symbol="run"),
        Target("", symbol="Session"),
        Target("auth.md", ref="file_name"),
        Target("file:///home/ann/project/docs/auth.md", ref="uri"),
        Target("4711", ref="document_id"),
    )
    found = check_presence(Dataset.of([Query("q", "who", targets)]), history.path)
    assert found.missing == ()
    assert found.checked == {"commits": 1, "paths": 7, "lines": 2, "symbols": 4}
    assert found.unchecked == 1


def test_everything_that_is_missing_is_told_at_once(history: "Builder") -> None:
    tip = history.commit({**FILES, "sub": ("160000", "1" * 40), "link": ("120000", "src")})[:12]
    assert problems(
        history,
        Target("lib/auth.py", 1, 900, 901, "nothing"),
        Target("src/auth.py", 1, 7, 8, "log"),
        Target("docs/auth.md", 1, 1, 2),
        Target("data.bin", 1, 1, 1),
        Target("link", 1, 1, 1),
        Target("build.zzz", symbol="walk"),
        Target("", symbol="Nowhere"),
        Target("zzz"),
    ) == [
        f"no file 'lib/auth.py' at {tip}; did you mean 'src/auth.py'?",
        f"src/auth.py has 7 lines at {tip}; expected lines 7-8",
        f"src/auth.py does not define 'log' at {tip}",
        f"docs/auth.md has 1 line at {tip}; expected lines 1-2",
        f"data.bin is not text (binary) at {tip}; expected lines 1-1",
        f"link is not text (symlink) at {tip}; expected lines 1-1",
        f"build.zzz does not define 'walk' at {tip}",
        f"nothing defines 'Nowhere' at {tip}",
        f"no file 'zzz' at {tip}",
    ]


def test_the_rule_of_matching_decides(history: "Builder") -> None:
    history.commit(FILES)
    part, name = Target("auth"), Target("", symbol="LOG")
    assert problems(history, part, name, match="akashic") == []
    assert len(problems(history, part, name)) == 2
    assert problems(history, Target("/repo/src/auth.py"), match="suffix") == []


def test_a_file_name_must_be_unique(history: "Builder") -> None:
    tip = history.commit({"a/x.py": "", "b/x.py": ""})[:12]
    target = Target("x.py", ref="file_name")
    assert problems(history, target) == [f"2 files are called 'x.py' at {tip}"]


def test_each_case_is_looked_up_at_its_own_commit(history: "Builder") -> None:
    first = history.commit({"old.py": "1\n"})
    history.git("tag", "v1")
    tip = history.commit({"old.py": None, "new.py": "1\n2\n"})
    queries = [
        Query("later", "", (Target("new.py", 1, 2, 2),)),
        Query("old", "", (Target("old.py"), Target("new.py")), extra={"base_commit": first}),
        Query("gone", "", (Target("new.py"),), extra={"base_commit": "4711"}),
        Query("tag", "", (Target("new.py"),), extra={"base_commit": "v1"}),
        Query("odd", "", (Target("new.py"),), extra={"base_commit": f"{first}\n{first}"}),
    ]
    found = check_presence(Dataset.of(queries), history.path)
    assert [(missing.query_id, missing.sort) for missing in found.missing] == [
        ("old", "paths"),
        ("gone", "commits"),
        ("tag", "paths"),
        ("odd", "commits"),
    ]
    assert str(found.missing[1]) == f"query 'gone': no commit '4711' in {history.path}"
    assert found.checked["commits"] == 4
    at_first = check_presence(Dataset.of(queries[:1]), history.path, revision=first)
    assert [missing.sort for missing in at_first.missing] == ["paths"]
    assert check_presence(Dataset.of(queries[:1]), history.path, revision=tip).missing == ()
    with pytest.raises(InputError, match="no revision 'nowhere'"):
        check_presence(Dataset.of(queries), history.path, revision="nowhere")


def test_many_of_one_name_are_offered_by_their_folders(history: "Builder") -> None:
    paths = ["a/b/x.py", "c/x.py", "d/x.py", "e/x.py", "f/b/x.py"]
    history.commit(dict.fromkeys(paths, ""))
    (problem,) = problems(history, Target("z/b/x.py"))
    assert problem.endswith("; did you mean 'a/b/x.py' or 'f/b/x.py' or 'c/x.py' or 2 more?")


def test_trees_are_those_that_git_lists(history: "Builder") -> None:
    nfd, nfc = "cafe\u0301.py", "caf\u00e9.py"
    ids = [
        history.commit({"a": "1\n", nfd: "x = 1\n", b"\xff": "2\n"}),
        history.commit({"a": None, "a/b": "1\n", nfd: None, nfc: "x = 1\n"}),
        history.commit({"a/b": "3\n", b"\xff": None}),
    ]
    with SnapshotReader(history.path) as trees:
        found = {tree.commit: tree for tree in trees.each(reversed(ids))}
        assert list(found) == ids
        assert sorted(found[ids[0]].entries) == ["a", nfc, "\udcff"]
        assert sorted(found[ids[1]].entries) == ["a/b", nfc, "\udcff"]
        assert sorted(found[ids[2]].entries) == ["a/b", nfc]
        assert found[ids[2]].content("a/b").text == "3\n"
        assert trees.at(ids[0]).content("\udcff").text == "2\n"


def test_a_file_that_the_clone_lacks(history: "Builder") -> None:
    history.commit({"a.py": "x = 1\n"})
    history.lose("HEAD:a.py")
    (problem,) = problems(history, Target("a.py", 1, 1, 1))
    assert "a.py is not text (missing)" in problem
