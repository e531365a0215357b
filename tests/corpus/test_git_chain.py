"""A chain of revisions is each revision by itself, at the price of what changes."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.corpus import Corpus, GitRepository
from karat.errors import InputError

Git = Callable[..., str]
Changes = dict[bytes, tuple[bytes, bytes] | None]
History = list[tuple[int, int | None, Changes]]

# Some are hidden, some no UTF-8, and "a" is now a file and now a folder.
PATHS = [b"a", b"a/b.py", b"A.py", b".hidden/x", b"tab\tline\n.md", "ü.md".encode(), b"\xff.txt"]
CONTENTS = [
    b"x = 1\n",
    b"",
    b"caf\xe9\n",
    b"\0binary",
    b"# Code generated, DO NOT EDIT.\n",
    b"y" * 99,
]
MODES = [b"100644", b"100755", b"120000", b"160000"]

changes = st.dictionaries(
    st.sampled_from(PATHS),
    st.none() | st.tuples(st.sampled_from(MODES), st.sampled_from(CONTENTS)),
    max_size=4,
)
# Each commit has a parent among those before it, and sometimes a second one.
histories = st.lists(
    st.tuples(st.integers(0, 99), st.none() | st.integers(0, 99), changes), min_size=1, max_size=7
)


def stream(history: History) -> bytes:
    """Return *history* as git fast-import reads it; commit n has the mark n + 1."""
    parts: list[bytes] = []
    for number, (parent, other, changed) in enumerate(history):
        parts.append(b"commit refs/heads/c%d\nmark :%d\n" % (number, number + 1))
        parts.append(b"committer A <a@b.c> 1700000000 +0000\ndata 1\nm\n")
        if number:
            parts.append(b"from :%d\n" % (parent % number + 1))
            if other is not None and other % number != parent % number:
                parts.append(b"merge :%d\n" % (other % number + 1))
        for path, entry in changed.items():
            name = b'"%s"' % b"".join(b"\\%03o" % byte for byte in path)
            if entry is None:
                parts.append(b"D %s\n" % name)
            elif entry[0] == b"160000":
                parts.append(b"M 160000 %s %s\n" % (b"1" * 40, name))
            else:
                parts.append(
                    b"M %s inline %s\ndata %d\n%s\n" % (entry[0], name, len(entry[1]), entry[1])
                )
    return b"".join(parts)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as path:
        yield Path(path)


def told(corpus: Corpus) -> tuple[object, ...]:
    return corpus.name, corpus.documents, dict(corpus.skipped), dict(corpus.notes), corpus.snapshot


@settings(max_examples=30)
@given(history=histories, order=st.randoms(use_true_random=False))
def test_any_history(folder: Path, history: History, order: Random) -> None:
    with TemporaryDirectory(dir=folder) as path:
        git = ["git", "-C", path]
        subprocess.run([*git, "init", "-q", "--bare"], check=True)
        subprocess.run([*git, "fast-import", "--quiet"], input=stream(history), check=True)
        names = [f"c{number}" for number in range(len(history))]
        order.shuffle(names)
        with GitRepository(path) as repository:
            snapshots = dict(repository.snapshots(names, max_bytes=50))
            assert sorted(snapshots) == sorted(names)
            for name, corpus in snapshots.items():
                assert told(corpus) == told(repository.corpus(name, max_bytes=50))
                assert [text for _, text in corpus.texts()] == [
                    text for _, text in repository.corpus(name, max_bytes=50).texts()
                ]
        places = {name: path for path, name in enumerate(snapshots)}
        for number, (parent, _, _) in enumerate(history[1:], 1):
            assert places[f"c{parent % number}"] < places[f"c{number}"]


def test_the_files_are_those_of_git_itself(repository: Path, git: Git) -> None:
    (repository / "src" / "a.py").write_text("changed\n")
    (repository / "src" / "copy.py").unlink()
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=two")
    with GitRepository(repository) as opened:
        (first, one), (second, two) = opened.snapshots(["HEAD", "HEAD~1"])
    assert (first, second) == ("HEAD~1", "HEAD")
    for name, corpus in ((first, one), (second, two)):
        listed = git(repository, "ls-tree", "-r", "-z", "--name-only", name).split("\0")[:-1]
        out = {".hidden", "image.png", "weights.bin", "link.py"}
        assert {document.path for document in corpus} == set(listed) - out
    assert one.read("src/a.py").startswith("def a")
    assert two.read("src/a.py") == "changed\n"
    # Documents that did not change are the same objects, which makes comparing them quick.
    assert one.by_path["latin.txt"] is two.by_path["latin.txt"]


def test_a_partial_clone_counts_what_it_lacks(repository: Path, git: Git, tmp_path: Path) -> None:
    (repository / "larger.txt").write_text("y" * 3000)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=two")
    git(repository, "config", "uploadpack.allowFilter", "true")
    url = repository.as_uri()
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:limit=1k", url, "part")
    with GitRepository(tmp_path / "part") as opened:
        counts = [corpus.skipped["missing"] for _, corpus in opened.snapshots(["HEAD", "HEAD~1"])]
    assert counts == [1, 2]


def test_revisions_that_do_not_exist_are_named_together(repository: Path) -> None:
    with GitRepository(repository) as opened:
        assert list(opened.snapshots([])) == []
        assert [name for name, _ in opened.snapshots(["main", "HEAD", "main"])] == ["main", "HEAD"]
        with pytest.raises(InputError, match="no revision 'nowhere', '--all', ''; expected a com"):
            list(opened.snapshots(["nowhere", "HEAD", "--all", ""]))
        with pytest.raises(InputError, match="has none of 'n0', 'n1', 'n2' and 7 more; is it"):
            list(opened.snapshots([f"n{number}" for number in range(10)]))
        with pytest.raises(InputError, match="no revision"):
            list(opened.snapshots(["HEAD\nHEAD"]))
