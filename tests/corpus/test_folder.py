"""A corpus from a folder."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from karat.corpus import UPLOADS_MARK, Trait, from_folder, from_git, from_texts
from karat.errors import InputError, UnknownName


def write(root: Path, files: dict[str, bytes | str]) -> Path:
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def paths(root: Path, **options: bool) -> list[str]:
    return [document.path for document in from_folder(root, **options)]  # type: ignore[arg-type]


def test_a_folder_and_its_commit_are_one_snapshot(repository: Path) -> None:
    folder, commit = from_folder(repository), from_git(repository)
    assert folder.documents == commit.documents
    assert folder.snapshot == commit.snapshot
    assert list(folder.texts()) == list(commit.texts())
    assert folder.skipped == commit.skipped == {
        "binary": 1, "hidden": 1, "lfs-pointer": 1, "symlink": 1,
    }  # fmt: skip
    assert folder.notes == {"latin-1": 1}


def test_equal_contents_have_equal_ids(repository: Path) -> None:
    corpus = from_folder(repository)
    assert corpus.by_path["src/a.py"].blob == corpus.by_path["src/copy.py"].blob
    uploaded = from_texts({"x": "def a():\r\n    return 1\r\n"})
    assert uploaded.documents[0].blob == corpus.by_path["src/a.py"].blob


def test_texts_have_plain_line_ends(repository: Path) -> None:
    corpus = from_folder(repository)
    assert corpus.read("src/a.py") == "def a():\n    return 1\n"
    assert corpus.by_path["src/a.py"].size == 24
    assert corpus.read("empty.txt") == ""
    assert corpus.read("grün ü.md") == "# Grün\n"


def test_the_limit_counts(repository: Path) -> None:
    corpus = from_folder(repository, max_bytes=1999)
    assert corpus.skipped["too-large"] == 1
    assert "large.txt" not in corpus.by_path


def test_hidden_files_on_request(repository: Path) -> None:
    assert ".hidden" not in paths(repository)
    assert ".hidden" in paths(repository, hidden=True)
    assert not [path for path in paths(repository, hidden=True) if path.startswith(".git/")]


def test_ignore_files_of_both_names_nested_and_negated(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "\ufeff*.log\r\nbuild/\r\n",
            ".ignore": "!seen.log\nsecret.txt\n",
            "a.log": "",
            "seen.log": "",
            "secret.txt": "",
            "build/x.txt": "",
            "sub/.gitignore": "!b.log\n/c.txt\n",
            "sub/b.log": "",
            "sub/c.txt": "",
            "sub/deep/c.txt": "",
        },
    )
    assert paths(tmp_path) == ["seen.log", "sub/b.log", "sub/deep/c.txt"]
    assert len(paths(tmp_path, ignore=False)) == 7


def test_the_rules_of_the_repository_above_apply(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "out/\n/repo\n",
            "repo/.git/HEAD": "",
            "repo/.gitignore": "*.log\n/src/own.txt\n/own2.txt\n",
            "repo/src/a.log": "",
            "repo/src/own.txt": "",
            "repo/src/own2.txt": "",
            "repo/src/out/x.txt": "",
        },
    )
    assert paths(tmp_path / "repo" / "src") == ["out/x.txt", "own2.txt"]


def test_an_upload_has_its_own_rules_only(tmp_path: Path) -> None:
    uploads: dict[str, bytes | str] = {
        UPLOADS_MARK: "",
        "one/.gitignore": "*.log\n",
        "one/a.log": "",
        "one/b.txt": "",
    }
    checkout = write(tmp_path, {".git/HEAD": "", ".gitignore": "*\n"})
    upload = write(checkout / "uploads", uploads) / "one"
    assert paths(upload) == ["b.txt"]
    (checkout / "uploads" / UPLOADS_MARK).unlink()
    assert paths(upload) == []


def test_links_are_never_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a/b.txt": "b"})
    write(tmp_path, {"outside/secret.txt": "s"})
    (root / "a" / "loop").symlink_to("..")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "file.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (root / "dangling").symlink_to("nowhere")
    corpus = from_folder(root)
    assert [document.path for document in corpus] == ["a/b.txt"]
    assert corpus.skipped == {"symlink": 4}


def test_a_link_to_the_folder_itself_works(tmp_path: Path) -> None:
    write(tmp_path / "root", {"a.txt": "a"})
    (tmp_path / "here").symlink_to("root")
    assert paths(tmp_path / "here") == ["a.txt"]


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert from_folder(tmp_path).skipped == {"special": 1}


def test_a_database_that_is_in_use_keeps_its_locks(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n", "b-wal": "no database\n"})
    file = tmp_path / "store.db"
    taking = f"import sqlite3; sqlite3.connect({str(file)!r}).execute('PRAGMA journal_mode=DELETE')"
    with closing(sqlite3.connect(file)) as ours:
        ours.execute("PRAGMA journal_mode = WAL")
        ours.execute("CREATE TABLE t (x)")
        corpus = from_folder(tmp_path)
        taken = subprocess.run([sys.executable, "-c", taking], capture_output=True, check=False)
    assert [document.path for document in corpus] == ["a.py", "b-wal"]
    assert corpus.skipped == {"database": 3}
    assert b"database is locked" in taken.stderr


def test_a_name_that_is_no_unicode_is_counted(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_bytes(b"x")
    assert from_folder(tmp_path).skipped == {"name-not-utf-8": 1}


def test_a_hundred_folders_deep(tmp_path: Path) -> None:
    path = "/".join(["d"] * 100) + "/a.txt"
    write(tmp_path, {path: "deep"})
    assert from_folder(tmp_path).read(path) == "deep"


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    corpus = from_folder(write(tmp_path, {"a.txt": "one", "b.txt": "two"}))
    (tmp_path / "a.txt").write_text("other", encoding="utf-8")
    (tmp_path / "b.txt").unlink()
    with pytest.raises(InputError, match=r"a\.txt: changed since the snapshot"):
        corpus.read("a.txt")
    with pytest.raises(InputError, match=r"b\.txt: cannot be read any more: No such file"):
        corpus.read("b.txt")
    with pytest.raises(UnknownName, match=r"no document 'c\.txt'"):
        corpus.read("c.txt")


def test_no_folder() -> None:
    with pytest.raises(InputError, match="no such folder"):
        from_folder("/nowhere/at/all")


def test_the_order_and_the_id_depend_on_content_only(tmp_path: Path) -> None:
    one = from_folder(write(tmp_path / "one", {"b": "2", "a/z": "1", "a.txt": "3", "é": "4"}))
    two = from_folder(write(tmp_path / "two", {"é": "4", "a.txt": "3", "a/z": "1", "b": "2"}))
    assert [document.path for document in one] == ["a.txt", "a/z", "b", "é"]
    assert one.snapshot == two.snapshot
    (tmp_path / "two" / "b").rename(tmp_path / "two" / "c")
    assert from_folder(tmp_path / "two").snapshot != one.snapshot


def test_documents_can_be_left_out_by_trait(tmp_path: Path) -> None:
    corpus = from_folder(
        write(tmp_path, {"a.py": "", "x.lock": "", "vendor/b.lock": "", "tests/a.py": ""})
    )
    lean = corpus.without(Trait.LOCK | Trait.VENDORED)
    assert [document.path for document in lean] == ["a.py", "tests/a.py"]
    assert lean.skipped == {"lock": 2}
    assert len(corpus) == 4


def test_what_the_text_says_becomes_a_trait(tmp_path: Path) -> None:
    corpus = from_folder(write(tmp_path, {"a.go": "// Code generated by x. DO NOT EDIT.\n"}))
    assert corpus.documents[0].traits == Trait.GENERATED


def test_what_the_system_refuses_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.txt": "a", "b.txt": "b", ".gitignore": "b.txt\n", "sub/c.txt": "c"})
    really_open, really_scan = os.open, os.scandir

    def refuse(path: str, flags: int) -> int:
        if path.endswith(("a.txt", ".gitignore")):
            raise PermissionError(13, "Permission denied")
        return really_open(path, flags)

    def refuse_folder(path: str) -> object:
        if path.endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return really_scan(path)

    monkeypatch.setattr("karat.corpus.files.folder.os.open", refuse)
    monkeypatch.setattr("karat.corpus.files.folder.os.scandir", refuse_folder)
    corpus = from_folder(tmp_path)
    monkeypatch.undo()
    assert [document.path for document in corpus] == ["b.txt"]
    assert corpus.skipped == {"hidden": 1, "unreadable": 2}
