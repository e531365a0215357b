"""A corpus from a Git revision."""

import os
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.corpus import Corpus, GitRepository, from_folder, from_git, from_texts
from karat.corpus.git_objects import ObjectReader
from karat.errors import InputError, KaratError

Git = Callable[..., str]


def test_an_old_revision_is_read_without_a_work_tree(repository: Path, git: Git) -> None:
    (repository / "src" / "a.py").write_text("changed\n", encoding="utf-8")
    git(repository, "commit", "--quiet", "--all", "--message=two")
    git(repository, "tag", "--annotate", "v2", "--message=v2")
    with GitRepository(repository) as opened:
        assert opened.corpus("HEAD").read("src/a.py") == "changed\n"
        assert opened.corpus("HEAD~1").read("src/a.py").startswith("def a()")
        assert opened.corpus("v2").snapshot == opened.corpus("main").snapshot
        assert opened.corpus("main").name == "project@main"
        assert opened.corpus("main", name="other").name == "other"


def test_a_bare_repository_works(repository: Path, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "project", "bare.git")
    assert from_git(tmp_path / "bare.git").snapshot == from_git(repository).snapshot
    assert from_git(tmp_path / "bare.git").name == "bare@HEAD"


def test_a_subfolder_stands_for_its_repository(repository: Path) -> None:
    assert from_git(repository / "src").snapshot == from_git(repository).snapshot


def test_submodules_and_odd_names_are_counted(repository: Path, git: Git) -> None:
    oid = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{oid},module")
    (repository / "tab\tand\nline.txt").write_text("odd\n", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(repository) + b"/\xff.txt")).write_bytes(b"x")
    git(repository, "add", "--all", ".")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{oid},module")
    git(repository, "commit", "--quiet", "--message=odd")
    corpus = from_git(repository)
    assert corpus.skipped["submodule"] == 1
    assert corpus.skipped["name-not-utf-8"] == 1
    assert corpus.read("tab\tand\nline.txt") == "odd\n"


def test_a_partial_clone_counts_what_it_lacks(repository: Path, git: Git, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    url = repository.as_uri()
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:limit=1k", url, "part")
    corpus = from_git(tmp_path / "part")
    assert corpus.skipped["missing"] == 1
    assert "large.txt" not in corpus.by_path
    assert corpus.read("src/a.py").startswith("def a()")


@pytest.mark.parametrize("revision", ["nowhere", "--all", "-h", "HEAD^{blob}", ""])
def test_an_unknown_revision_is_refused(repository: Path, revision: str) -> None:
    with pytest.raises(InputError, match=r"no revision|is not a valid revision"):
        from_git(repository, revision)


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a Git repository"):
        from_git(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        from_git(tmp_path / "nowhere")


def test_git_missing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="cannot run git"):
        from_git(repository)


def test_settings_and_environment_of_the_user_do_not_matter(
    repository: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    for setting in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"):
        git(repository, "config", setting, str(trap))
    git(repository, "config", "core.hooksPath", str(tmp_path))
    before = from_git(repository).snapshot
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    assert from_git(repository).snapshot == before
    assert not (tmp_path / "sprung").exists()


def test_each_blob_is_looked_at_once(
    repository: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "new.txt").write_text("new\n", encoding="utf-8")
    git(repository, "add", "new.txt")
    git(repository, "commit", "--quiet", "--message=two")
    asked: list[str] = []
    read = ObjectReader.read

    def counted(self: ObjectReader, oids: list[str]) -> object:
        asked.extend(oids)
        return read(self, oids)

    monkeypatch.setattr(ObjectReader, "read", counted)
    with GitRepository(repository) as opened:
        opened.corpus("HEAD~1")
        first = len(asked)
        opened.corpus("HEAD")
    assert first == len(set(asked[:first]))
    assert len(asked) == first + 1


def test_many_objects_in_one_exchange(repository: Path, git: Git) -> None:
    oids = [
        git(repository, "hash-object", "-w", "--stdin", text="x" * size)
        for size in range(0, 60_000, 3000)
    ]
    reader = ObjectReader(str(repository))
    many = oids * 40
    assert [len(data) for data in reader.read(many)] == list(range(0, 60_000, 3000)) * 40
    reader.close()


def test_a_missing_object_leaves_the_reader_usable(repository: Path, git: Git) -> None:
    good = git(repository, "hash-object", "-w", "--stdin", text="good")
    reader = ObjectReader(str(repository))
    with pytest.raises(InputError, match=r"object 0+ is missing"):
        list(reader.read([good, "0" * 40, good]))
    assert list(reader.read([good])) == [b"good"]
    reader.close()
    assert list(reader.read([good])) == [b"good"]
    reader.close()


def test_a_reader_whose_process_dies_says_so(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = ObjectReader(str(repository))
    monkeypatch.setattr("karat.corpus.git_objects.command", lambda *_: ["git", "--no-such-option"])
    with pytest.raises(KaratError, match="git cat-file"):
        list(reader.read(["0" * 40]))
    reader.close()


def test_an_object_that_came_in_part_is_none(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = ObjectReader(str(repository))
    says = f"read asked; printf '{'0' * 40} blob 9\nonly a'"
    monkeypatch.setattr("karat.corpus.git_objects.command", lambda *_: ["sh", "-c", says])
    with pytest.raises(KaratError, match="ended within an object"):
        list(reader.read(["0" * 40]))
    reader.close()


def test_answers_that_were_not_read_are_given_to_nobody(
    repository: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (git(repository, "hash-object", "-w", "--stdin", text=text) for text in "12")
    reader = ObjectReader(str(repository))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ObjectReader, "_answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(reader.read([one]))
    assert list(reader.read([two])) == [b"2"]
    reader.close()


def test_the_process_ends_with_the_repository(repository: Path) -> None:
    opened = GitRepository(repository)
    opened.corpus()
    process = opened._objects._process
    assert process is not None
    assert process.poll() is None
    del opened
    assert isinstance(process, subprocess.Popen)
    assert process.poll() == 0


def read_all(corpus: Corpus) -> list[str]:
    return [text for _, text in corpus.texts()]


@pytest.mark.parametrize("source", ["git", "folder", "texts"])
def test_a_corpus_can_be_sent_to_another_process(repository: Path, source: str) -> None:
    corpus = {
        "git": lambda: from_git(repository),
        "folder": lambda: from_folder(repository),
        "texts": lambda: from_texts({"a": "one", "b": "two"}),
    }[source]()
    expected = read_all(corpus)
    copy = pickle.loads(pickle.dumps(corpus))  # noqa: S301 - our own bytes
    assert read_all(copy) == expected
    assert copy.snapshot == corpus.snapshot


def test_a_forked_process_reads_by_itself(repository: Path) -> None:
    corpus = from_git(repository)
    expected = read_all(corpus)
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sending, b"same" if read_all(corpus) == expected else b"other")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(receiving, 9) == b"same"
    os.close(receiving)
    os.close(sending)
    assert read_all(corpus) == expected


def test_missing_objects_can_be_told_apart(repository: Path, git: Git) -> None:
    good = git(repository, "hash-object", "-w", "--stdin", text="good")
    reader = ObjectReader(str(repository))
    assert list(reader.find([good, "0" * 40, good])) == [b"good", None, b"good"]
    reader.close()
