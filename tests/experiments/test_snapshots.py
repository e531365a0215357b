"""Each query is searched on the tree that its snapshot names."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.snapshots import Snapshots, corpus_snapshots, history_snapshots
from karat.model import Dataset, Query, Target

Git = Callable[..., str]
Mined = Callable[..., Dataset]


@pytest.fixture
def mined(project: Path, git: Git) -> Mined:
    """Return what makes a gold set of the commits with these *numbers*."""

    def made(numbers: Sequence[int], *, parents: bool = True) -> Dataset:
        commits = git(project, "rev-list", "--reverse", "HEAD").split()
        queries = []
        for place, number in enumerate(numbers):
            extra = {"commit_hash": commits[number]}
            if parents:
                extra["base_commit"] = commits[number - 1]
            queries.append(Query(f"q{place}", "n", (Target("n.py"),), extra=extra))
        return Dataset.of(queries, name="gold", metadata={"repository": str(project)})

    return made


def seen(trees: Snapshots) -> list[tuple[str, list[int]]]:
    return [
        (snapshot.corpus.read("n.py")[4:-1], sorted(snapshot.queries.rows)) for snapshot in trees
    ]


@pytest.mark.parametrize("parents", [True, False])
def test_the_trees_of_each_snapshot(parents: bool, mined: Mined) -> None:
    gold = mined([4, 2, 4], parents=parents)
    expected = {
        "parent": [("1", [1]), ("3", [0, 2])],
        "base": [("1", [0, 1, 2])],
        "head": [("4", [0, 1, 2])],
        "child": [("2", [1]), ("4", [0, 2])],
    }
    for snapshot, visits in expected.items():
        with history_snapshots(gold, snapshot=snapshot) as trees:
            assert seen(trees) == visits
            # Another engine sees the same.
            assert seen(trees) == visits


def test_the_base_holds_no_change_of_the_gold_set(project: Path, mined: Mined, git: Git) -> None:
    git(project, "checkout", "--quiet", "-b", "side", "HEAD~4")
    (project / "n.py").write_text("n = 9\n")
    git(project, "commit", "--quiet", "-am", "side")
    side = git(project, "rev-parse", "HEAD")
    gold = mined([1])
    git(project, "checkout", "--quiet", "-")
    both = [*mined([3, 4]).queries(), *gold.queries()]
    queries = [query._replace(id=str(place)) for place, query in enumerate(both)]
    assert queries[2].extra["commit_hash"] == side
    one = Dataset.of(queries, metadata={"repository": str(project)})
    with history_snapshots(one, snapshot="base") as trees:
        assert seen(trees) == [("0", [0, 1, 2])]


def test_tests_are_candidates_where_they_are_wanted(project: Path, mined: Mined) -> None:
    gold = mined([2])
    counts = {}
    for candidates in (None, "production", "all"):
        with history_snapshots(gold, candidates=candidates) as trees:
            counts[candidates] = [len(snapshot.corpus) for snapshot in trees]
    assert counts == {None: [1], "production": [1], "all": [2]}
    metadata = {"repository": str(project), "candidates": "all"}
    made_for_all = Dataset.of(gold.queries(), metadata=metadata)
    with history_snapshots(made_for_all) as trees:
        assert trees.candidates == "all"
    assert [len(snapshot.corpus) for snapshot in corpus_snapshots(gold, str(project))] == [2]
    with pytest.raises(
        InputError, match="candidates 'some' is not valid; expected one of: production, all"
    ):
        corpus_snapshots(gold, str(project), candidates="some")


def test_the_seed_decides_the_order_on_a_tree(mined: Mined) -> None:
    gold = mined([2] * 20)
    orders = []
    for seed in (0, 0, 1):
        with history_snapshots(gold, seed=seed) as trees:
            orders += [snapshot.queries.rows for snapshot in trees]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == list(range(20))
    assert orders[0] != tuple(range(20))


def test_a_folder_or_a_revision_of_it(project: Path, mined: Mined) -> None:
    gold = mined([2, 3])
    assert seen(corpus_snapshots(gold, str(project), revision="HEAD~2")) == [("2", [0, 1])]
    (project / "n.py").write_text("n = 7\n")
    assert seen(corpus_snapshots(gold, str(project))) == [("7", [0, 1])]


def test_several_repositories(project: Path, tmp_path: Path, mined: Mined, git: Git) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(project), str(other))
    extras = [query.extra for query in mined([2, 4]).queries()]
    queries = [
        Query("a", "n", (), {"repository": "a"}, {**extras[0], "repository": str(project)}),
        Query("b", "n", (), {"repository": "b"}, {**extras[1], "repository": "/nowhere"}),
    ]
    gold = Dataset.of(queries, name="gold", metadata={"repository": f"{project}, /nowhere"})
    with (
        pytest.raises(InputError, match="gold was mined from /nowhere, which does not exist here"),
        history_snapshots(gold),
    ):
        pass
    with history_snapshots(gold, {"b": str(other)}) as trees:
        assert seen(trees) == [("1", [0]), ("3", [1])]
    with (
        pytest.raises(InputError, match="gold: no repository 'c'; it has a, b"),
        history_snapshots(gold, {"c": str(other)}),
    ):
        pass
    with history_snapshots(gold, {"": str(other)}) as trees:
        assert trees.place == str(other)
        assert seen(trees) == [("1", [0]), ("3", [1])]


def test_what_cannot_be_searched_is_told(tmp_path: Path, mined: Mined, git: Git) -> None:
    gold = mined([2])
    bare = Dataset.of([Query("q", "n", ())], name="bare", metadata=gold.metadata)
    homeless = Dataset.of(gold.queries(), name="homeless")
    for wrong, snapshot, message in (
        (gold, "now", "snapshot 'now' is not valid; expected one of: parent, base, head, child"),
        (bare, "parent", "bare: case 'q' has no commit; expected a gold set mined from Git"),
        (homeless, "parent", "homeless does not say where its repository is; give it with --repo"),
    ):
        with pytest.raises(InputError, match=message), history_snapshots(wrong, snapshot=snapshot):
            pass
    git(tmp_path, "init", "--quiet", "empty")
    with (
        history_snapshots(gold, {"": str(tmp_path / "empty")}) as trees,
        pytest.raises(InputError, match=r"no revision '[0-9a-f]{40}'; expected a commit"),
    ):
        list(trees)
