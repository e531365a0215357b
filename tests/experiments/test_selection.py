"""Where to search becomes visits, and the hash of all that is there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from karat.corpus import from_folder, from_texts
from karat.errors import InputError
from karat.experiments.target_check import Where, check_targets, corpus_digest
from karat.experiments.workers.sources import Opener
from karat.model import Dataset, Query, Target


@pytest.fixture
def mined(project: Path, git: Callable[..., str]) -> Dataset:
    """Return a gold set of the last commit and, after it, of the one before."""
    commits = git(project, "rev-list", "HEAD").split()[:2]
    queries = [
        Query(f"q{place}", "n", (Target("n.py"),), extra={"commit_hash": commit})
        for place, commit in enumerate(commits)
    ]
    return Dataset.of(queries, name="gold", metadata={"repository": str(project)})


def test_the_visits_find_the_trees_again(mined: Dataset) -> None:
    found = check_targets(mined, Where(), match="exact")
    assert [snapshot.rows for snapshot in found.snapshots] == [(1,), (0,)]
    opener = Opener()
    opened = [opener.open(snapshot.source) for snapshot in found.snapshots]
    assert [corpus.read("n.py") for corpus in opened] == ["n = 2\n", "n = 3\n"]
    assert [[document.path for document in corpus] for corpus in opened] == [["n.py"]] * 2
    assert tuple(corpus.snapshot for corpus in opened) == found.digests
    opener.close()
    assert found.searched.snapshot == "parent"


def test_a_folder(project: Path, mined: Dataset) -> None:
    found = check_targets(mined, Where(corpus=str(project)), match="exact")
    assert [sorted(snapshot.rows) for snapshot in found.snapshots] == [[0, 1]]
    assert corpus_digest(found) == from_folder(project).snapshot
    without = Where(corpus=str(project), candidates="production")
    chosen = check_targets(mined, without, match="exact")
    assert corpus_digest(chosen) == from_texts({"n.py": "n = 4\n"}).snapshot
    assert Opener().open(chosen.snapshots[0].source).snapshot == corpus_digest(chosen)


def test_a_revision_of_it(project: Path, mined: Dataset) -> None:
    where = Where(corpus=str(project), revision="HEAD~1")
    found = check_targets(mined, where, match="exact")
    opener = Opener()
    assert opener.open(found.snapshots[0].source).read("n.py") == "n = 3\n"
    opener.close()


def test_the_hash_of_several_trees(mined: Dataset) -> None:
    gold = mined
    parents, children = (
        corpus_digest(check_targets(gold, Where(snapshot=snapshot), match="exact"))
        for snapshot in ("parent", "child")
    )
    assert parents != children
    assert len(parents) == 64


def test_the_seed_decides_the_order(project: Path) -> None:
    queries = [Query(str(row), "n", (Target("n.py"),)) for row in range(20)]
    orders = [
        check_targets(Dataset.of(queries), Where(corpus=str(project)), match="exact", seed=seed)
        .snapshots[0]
        .rows
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (Where(revision="HEAD"), "revision 'HEAD' needs a corpus"),
        (Where(corpus="here", snapshot="head"), "in place of the trees of a repository"),
        (Where({"": "there"}, corpus="here"), "in place of the trees of a repository"),
    ],
)
def test_what_does_not_go_together(where: Where, message: str, mined: Dataset) -> None:
    with pytest.raises(InputError, match=message):
        check_targets(mined, where, match="exact")
