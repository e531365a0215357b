"""The commits of a history, against what was committed."""

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.corpus.snapshot import blob_id
from karat.errors import InputError, KaratError
from karat.extensions.mining import commits as commits_module
from karat.extensions.mining.commits import Change, UnreadableCommits
from karat.extensions.mining.scan import SHALLOW, scan

if TYPE_CHECKING:
    from tests.git_history import Builder

NONE = "0" * 40
# By its name, since the package has a function of that name.
SOURCE = import_module("karat.extensions.mining.scan")

FILE, PROGRAM, LINK, MODULE = "100644", "100755", "120000", "160000"


def changed(path: str, old: bytes, new: bytes) -> Change:
    return Change("M", path, path, blob_id(old), blob_id(new), FILE, FILE)


def test_a_commit_and_a_root(history: "Builder") -> None:
    root = history.commit({"a.py": "one\n"}, "begin")
    second = history.commit({"a.py": "two\n"}, "Fix it\n\nThe body.\n")
    newest, oldest = scan(history.path)
    assert newest == (
        second,
        (root,),
        history.time,
        "Ann",
        "ann@example.com",
        "Fix it\n\nThe body.",
        (changed("a.py", b"one\n", b"two\n"),),
    )
    assert (oldest.id, oldest.parents) == (root, ())
    added = Change("A", "a.py", "a.py", NONE, blob_id(b"one\n"), "000000", FILE)
    assert oldest.changes == (added,)


def test_what_can_happen_to_a_file(history: "Builder") -> None:
    history.commit({"name.py": "moved\n", "gone": "gone\n", "run": "run\n", "link": "a"})
    module = history.git("rev-parse", "main")
    history.commit(
        {
            "name.py": None,
            "Name.py": "moved\n",
            "gone": None,
            "run": (PROGRAM, "run\n"),
            "link": (LINK, "a"),
            "module": (MODULE, module),
        }
    )
    changes = {change.path: change for change in next(scan(history.path)).changes}
    moved, run, link = blob_id(b"moved\n"), blob_id(b"run\n"), blob_id(b"a")
    assert changes == {
        "Name.py": Change("R", "Name.py", "name.py", moved, moved, FILE, FILE),
        "gone": Change("D", "gone", "gone", blob_id(b"gone\n"), NONE, FILE, "000000"),
        "run": Change("M", "run", "run", run, run, FILE, PROGRAM),
        "link": Change("T", "link", "link", link, link, FILE, LINK),
        "module": Change("A", "module", "module", NONE, module, "000000", MODULE),
    }


def test_only_exact_renames_are_renames_here(history: "Builder") -> None:
    lines = "".join(f"{number}\n" for number in range(50))
    history.commit({"a": lines})
    history.commit({"a": None, "b": lines + "more\n"})
    assert [change.status for change in next(scan(history.path)).changes] == ["D", "A"]


def test_an_empty_commit_has_no_changes(history: "Builder") -> None:
    history.commit({"a": "a"})
    history.commit({}, "nothing")
    history.commit({"a": "b"}, "")
    assert [(commit.message, len(commit.changes)) for commit in scan(history.path)] == [
        ("", 1),
        ("nothing", 0),
        ("change", 1),
    ]


MESSAGES = [
    "Fix 🎉 — ümläut",
    "a -- b\n\n-- \nsigned",
    "\x01\x02 starts oddly",
    ":100644 100644 looks like a record",
    "line\r\nline",
    "\n\nlate",
]


def test_messages_are_kept(history: "Builder") -> None:
    for message in MESSAGES:
        history.commit({"a": message}, message)
    assert [commit.message for commit in scan(history.path)] == MESSAGES[::-1]


def test_messages_in_other_encodings(history: "Builder") -> None:
    history.commit({}, "café".encode("latin-1"), encoding="ISO-8859-1")
    history.commit({}, b"caf\xe9", author=b"Ren\xe9 <a@b>")
    undeclared, declared = scan(history.path)
    assert declared.message == "café"
    assert (undeclared.message, undeclared.author) == ("caf\ufffd", "Ren\ufffd")


def test_a_nul_in_a_message_ends_it(history: "Builder") -> None:
    first = history.commit({"a": "a"})
    tree = history.git("rev-parse", "main^{tree}")
    who = "Ann <ann@example.com> 1700009000 +0000"
    raw = f"tree {tree}\nparent {first}\nauthor {who}\ncommitter {who}\n\nhead\0\0tail"
    oid = history.git(
        "hash-object", "-t", "commit", "-w", "--stdin", "--literally", given=raw.encode()
    )
    history.git("update-ref", "refs/heads/main", oid)
    assert [(commit.id, commit.message) for commit in scan(history.path)] == [
        (oid, "head"),
        (first, "change"),
    ]


def test_paths_are_kept(history: "Builder") -> None:
    names: list[str] = [
        "tab\tand\nline",
        'quo"te',
        "\x01",
        ":a",
        "grün",
        " space ",
        "-dash",
        "a\n\0".strip("\0"),
    ]
    history.commit({name.encode(): name for name in names} | {b"\xff.py": "x"})
    (commit,) = scan(history.path)
    assert {change.path for change in commit.changes} == {*names, "\udcff.py"}


def merged(history: "Builder", sides: int) -> tuple[str, list[str]]:
    """Merge so many branches, each with a file of its own, and return the merge and its parents."""
    base = history.commit({"base": "base\n"})
    parents = [history.commit({"main": "main\n"})]
    for number in range(sides):
        branch = f"side{number}"
        parents.append(history.commit({branch: branch}, branch=branch, parents=[base]))
    files = {f"side{number}": f"side{number}" for number in range(sides)}
    return history.commit(files, "Merge", parents=parents), parents


@pytest.mark.parametrize("sides", [1, 3])
def test_merges_are_compared_with_the_first_parent(history: "Builder", sides: int) -> None:
    merge, parents = merged(history, sides)
    every = list(scan(history.path, include_merges=True))
    assert [commit.id for commit in scan(history.path)] == [commit.id for commit in every[1:]]
    assert (every[0].id, every[0].parents) == (merge, tuple(parents))
    brought = [f"side{number}" for number in range(sides)]
    assert [change.path for change in every[0].changes] == brought


def test_the_unit_of_a_pull_request(history: "Builder") -> None:
    merge, _ = merged(history, 1)
    history.commit({"later": "x"})
    for include_merges in (False, True):
        (only,) = scan(history.path, unit="pr", include_merges=include_merges)
        assert (only.id, only.message) == (merge, "Merge")


def test_a_window_of_time(history: "Builder") -> None:
    ids = [history.commit({"a": str(number)}) for number in range(4)]
    # The builder starts at 22:13:20 of 14 November 2023 and adds an hour each time.
    commits = list(scan(history.path, since="2023-11-15T00:13:20Z", until="2023-11-15T02:13:20"))
    assert [commit.id for commit in commits] == [ids[2], ids[1]]
    assert [commit.id for commit in scan(history.path, since="2023-11-15")] == ids[:0:-1]
    assert [commit.id for commit in scan(history.path, until="2023-11-15")] == ids[:1]
    assert [commit.id for commit in scan(history.path, max_commits=2)] == ids[:1:-1]
    with pytest.raises(InputError, match="since is 'yesterday'; expected a date such as"):
        scan(history.path, since="yesterday")


def test_a_branch(history: "Builder") -> None:
    first = history.commit({"a": "a"})
    history.commit({"a": "b"})
    side = history.commit({"b": "b"}, branch="side", parents=[first])
    history.git("tag", "--no-sign", "v1", side)
    for name in ("side", "v1", side, "refs/heads/side"):
        assert [commit.id for commit in scan(history.path, branch=name)] == [side, first]


@pytest.mark.parametrize("branch", ["nowhere", "--all", "-h", "main..side", "main:a", "", "^main"])
def test_no_such_branch(history: "Builder", branch: str) -> None:
    history.commit({"a": "a"})
    history.commit({"a": "b"}, branch="side")
    with pytest.raises(InputError, match=r"no branch .*; expected a branch, a tag or a commit"):
        scan(history.path, branch=branch)


def test_nothing_to_scan(history: "Builder", tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no commits yet"):
        scan(history.path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is not a Git repository"):
        scan(str(tmp_path / "empty"))
    with pytest.raises(InputError, match="cannot change to"):
        scan(str(tmp_path / "nowhere"))


def test_a_shallow_clone_is_noted(history: "Builder", tmp_path: Path) -> None:
    ids = [history.commit({"a": str(number)}) for number in range(4)]
    url = history.folder.as_uri()
    history.git("clone", "--quiet", "--bare", "--depth=2", url, str(tmp_path / "part"))
    unreadable = UnreadableCommits()
    commits = list(scan(str(tmp_path / "part"), unreadable=unreadable))
    assert [(commit.id, commit.parents) for commit in commits] == [
        (ids[3], (ids[2],)),
        (ids[2], ()),
    ]
    assert unreadable.notes == [SHALLOW]
    assert not unreadable.unreadable


def test_a_clone_without_blobs_is_enough(history: "Builder", tmp_path: Path) -> None:
    history.commit({"a": "a"})
    history.commit({"a": None, "b": "a"})
    history.git("config", "uploadpack.allowFilter", "true")
    url = history.folder.as_uri()
    part = str(tmp_path / "part")
    history.git("clone", "--quiet", "--bare", "--filter=blob:none", url, part)
    assert list(scan(part)) == list(scan(history.path))


def test_a_missing_tree_costs_its_commits(history: "Builder") -> None:
    ids = [history.commit({"a": str(number)}) for number in range(5)]
    tree = history.lose(f"{ids[2]}^{{tree}}")
    unreadable = UnreadableCommits()
    commit_ids = [commit.id for commit in scan(history.path, unreadable=unreadable)]
    # The commit, and the next one, which is compared with it.
    assert commit_ids == [ids[4], ids[1], ids[0]]
    assert [lost.commit for lost in unreadable.unreadable] == [ids[3], ids[2]]
    assert all(tree in lost.reason for lost in unreadable.unreadable)
    with pytest.raises(InputError, match=tree):
        list(scan(history.path))
    assert [commit.id for commit in scan(history.path, max_commits=3, unreadable=unreadable)] == [
        ids[4]
    ]


def test_a_missing_commit_ends_the_walk(history: "Builder") -> None:
    ids = [history.commit({"a": str(number)}) for number in range(5)]
    missing = history.lose(ids[1])
    unreadable = UnreadableCommits()
    commit_ids = [commit.id for commit in scan(history.path, unreadable=unreadable)]
    assert commit_ids == [ids[4], ids[3]]
    (lost,) = unreadable.unreadable
    assert lost.commit == ""
    assert missing in lost.reason


def test_a_broken_object(history: "Builder") -> None:
    ids = [history.commit({"a": str(number)}) for number in range(3)]
    tree = history.git("rev-parse", f"{ids[0]}^{{tree}}")
    object_file = history.folder / "objects" / tree[:2] / tree[2:]
    object_file.chmod(0o644)
    object_file.write_bytes(b"rubbish")
    unreadable = UnreadableCommits()
    assert [commit.id for commit in scan(history.path, unreadable=unreadable)] == [ids[2]]
    assert [lost.commit for lost in unreadable.unreadable] == [ids[1], ids[0]]


def test_a_broken_header_costs_its_commit(history: "Builder") -> None:
    first = history.commit({"a": "a"})
    tree = history.git("rev-parse", "main^{tree}")
    raw = f"tree {tree}\nparent {first}\nauthor Ann\ncommitter nobody\n\nhead"
    broken = history.git(
        "hash-object", "-t", "commit", "-w", "--stdin", "--literally", given=raw.encode()
    )
    history.git("update-ref", "refs/heads/main", broken)
    unreadable = UnreadableCommits()
    assert [commit.id for commit in scan(history.path, unreadable=unreadable)] == [first]
    assert [lost.commit for lost in unreadable.unreadable] == [broken]


def test_too_many_losses_are_an_error(history: "Builder", monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [history.commit({"a": str(number)}) for number in range(4)]
    for commit in ids:
        history.lose(f"{commit}^{{tree}}")
    monkeypatch.setattr(commits_module, "MOST_UNREADABLE", 3)
    with pytest.raises(InputError, match="3 commits cannot be read; expected a complete clone"):
        list(scan(history.path, unreadable=UnreadableCommits()))


def test_a_git_that_is_killed_is_no_fault_of_the_history(
    history: "Builder", monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit({"a": "a"})
    commits = scan(history.path, unreadable=UnreadableCommits())
    killed = ["sh", "-c", "kill -9 $$"]
    monkeypatch.setattr("karat.corpus.git_objects.command", lambda *_: killed)
    with pytest.raises(KaratError, match="exit code -9"):
        list(commits)


def test_settings_of_the_repository_do_not_matter(history: "Builder", tmp_path: Path) -> None:
    history.commit({"a.py": "moved\n", "b/c.py": "x\n"})
    history.commit({"a.py": None, "new.py": "moved\n", "b/c.py": "y\n"})
    before = list(scan(history.path))
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    for setting in ("diff.external", "diff.trap.textconv", "diff.trap.command", "core.pager"):
        history.git("config", setting, str(trap))
    for setting in (
        "gpg.program",
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
    ):
        history.git("config", setting, str(trap))
    for setting, value in (
        ("log.showSignature", "true"),
        ("log.showRoot", "false"),
        ("log.follow", "true"),
        ("diff.renames", "false"),
        ("diff.relative", "true"),
        ("diff.noprefix", "true"),
        ("diff.orderFile", "/dev/null"),
        ("color.ui", "always"),
        ("i18n.logOutputEncoding", "UTF-16"),
        ("format.pretty", "oneline"),
    ):
        history.git("config", setting, value)
    (history.folder / "info" / "attributes").write_text("* diff=trap\n", encoding="utf-8")
    root, tip = history.git("rev-list", "--reverse", "main").split()
    (history.folder / "info" / "grafts").write_text(f"{tip}\n", encoding="utf-8")
    replaced = history.commit({"z": "z"}, branch="other", parents=[])
    history.git("update-ref", f"refs/replace/{root}", replaced)
    assert list(scan(history.path)) == before
    assert not (tmp_path / "sprung").exists()


def test_progress_is_told(history: "Builder", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SOURCE, "_TOLD_EACH", 2)
    for number in range(5):
        history.commit({"a": str(number)})
    told: list[int] = []
    assert len(list(scan(history.path, progress=told.append))) == 5
    assert told == [2, 4, 5]


def test_a_scan_may_be_left_early(history: "Builder", monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        history.commit({"a": str(number)})
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
        started.append(popen(*arguments, **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    commits = scan(history.path)
    next(commits)
    commits.close()  # type: ignore[attr-defined]
    assert all(process.returncode is not None for process in started)


trees = st.dictionaries(
    st.sampled_from(["a.py", "src/b.py", "src/c d.txt", "ü"]), st.integers(0, 1000), max_size=4
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(trees, min_size=1, max_size=6))
def test_any_history_is_what_was_committed(
    new_history: Callable[[], "Builder"], states: list[dict[str, int]]
) -> None:
    history = new_history()
    before: dict[str, bytes] = {}
    expected = []
    for step, state in enumerate(states):
        # Content that occurs only once, so that nothing can be taken for a rename.
        after = {
            path: before.get(path, f"{path} {number} {step}".encode())
            if number % 2
            else f"{path} {number} {step}".encode()
            for path, number in state.items()
        }
        oid = history.commit({path: after.get(path) for path in before | after})
        sides = {path: (before.get(path), after.get(path)) for path in before | after}
        expected.append(
            (oid, {(path, *sides[path]) for path in sides if sides[path][0] != sides[path][1]})
        )
        before = after
    contents = {
        blob_id(data): data
        for _, changes in expected
        for change in changes
        for data in change[1:]
        if data is not None
    }
    commits = [
        (
            commit.id,
            {
                (change.path, contents.get(change.old_blob), contents.get(change.new_blob))
                for change in commit.changes
            },
        )
        for commit in scan(history.path)
    ]
    assert commits == expected[::-1]
