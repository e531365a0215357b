"""A folder, a revision, a profile, an engine: one verb searches them all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from karat.app.search import search
from karat.engines.base import Engine, ExplainedHit
from karat.errors import InputError, UnknownName
from karat.experiments.workers.sources import load_corpus
from karat.model import Hit

Git = Callable[..., str]


class Silent(Engine):
    """An engine that finds one place and explains nothing."""

    name = "silent"
    thread_safe = False
    closed = False

    def index(self, corpus: object) -> None:
        pass

    def search(self, query: str, k: int) -> list[Hit]:
        return [Hit("a.py", 1.0)][:k]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("def login(user):\n    return user\n")
    (tmp_path / "b.py").write_text("def mail(user):\n    return user\n")
    return tmp_path


@pytest.mark.parametrize("engine", ["keyword", "lexical", "bm25(k1=1.2)", {"engine": "bm25"}])
def test_profiles_and_engines_answer(folder: Path, engine: str | dict[str, object]) -> None:
    result = search("login", load_corpus(str(folder)), engine, k=1)
    assert [explained.hit.path for explained in result.hits] == ["a.py"]
    assert result.index_ns > 0
    assert result.search_ns > 0


def test_an_engine_is_closed_and_need_not_explain(folder: Path) -> None:
    engine = Silent()
    result = search("login", load_corpus(str(folder)), engine)
    assert result.hits == [ExplainedHit(Hit("a.py", 1.0), {})]
    assert engine.closed


def test_a_revision_is_searched_as_it_was(folder: Path, git: Git) -> None:
    for command in ("init -q", "add .", "commit -qm one"):
        git(folder, *command.split())
    (folder / "a.py").write_text("nothing = 0\n")
    then = search("login", load_corpus(str(folder), revision="HEAD"), "keyword")
    now = search("login", load_corpus(str(folder)), "keyword")
    assert [explained.hit.path for explained in then.hits] == ["a.py"]
    assert now.hits == []


def test_bad_requests_are_told(folder: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_corpus(str(folder / "nowhere"))
    with pytest.raises(UnknownName, match="did you mean 'bm25'"):
        search("x", load_corpus(str(folder)), "bm52")


@pytest.fixture
def repository(folder: Path, git: Git) -> Path:
    (folder / "lib").mkdir()
    (folder / "lib" / "c.py").write_text("def logout(user):\n    return None\n")
    for command in ("init -q", "add .", "commit -qm one"):
        git(folder, *command.split())
    return folder


def test_a_bare_repository_is_searched_at_its_head(
    repository: Path, tmp_path: Path, git: Git
) -> None:
    bare = tmp_path / "project.git"
    git(repository, "clone", "-q", "--bare", ".", str(bare))
    for git_folder in (bare, repository / ".git"):
        corpus = load_corpus(str(git_folder))
        assert [document.path for document in corpus] == ["a.py", "b.py", "lib/c.py"]
    assert load_corpus(str(bare)).name == "project@HEAD"


def test_a_folder_of_a_revision_is_that_folder_alone(repository: Path) -> None:
    lib = str(repository / "lib")
    then, now = load_corpus(lib, revision="HEAD"), load_corpus(lib)
    assert [document.path for document in then] == ["c.py"]
    assert then.snapshot == now.snapshot
    (repository / "new").mkdir()
    with pytest.raises(InputError, match="no revision 'HEAD:new'"):
        load_corpus(str(repository / "new"), revision="HEAD")


def test_a_file_is_told_from_nothing(folder: Path) -> None:
    with pytest.raises(InputError, match=r"a.py is a file; expected a folder or a repository"):
        load_corpus(str(folder / "a.py"))
