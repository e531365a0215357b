"""Each query is searched on the tree that its snapshot names."""

from collections.abc import Sequence
from pathlib import Path
from subprocess import run

import pytest

from karat.app.trees import Trees, corpus_trees, history_trees
from karat.errors import InputError
from karat.model import Dataset, Query, Target


def git(place: Path, *arguments: str) -> str:
    words = ("git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments)
    return run(words, cwd=place, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository of five commits; each writes its number into n.py."""
    place = tmp_path / "project"
    (place / "tests").mkdir(parents=True)
    git(place, "init", "--quiet")
    (place / "tests" / "test_n.py").write_text("assert n\n")
    for number in range(5):
        (place / "n.py").write_text(f"n = {number}\n")
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", str(number))
    return place


def mined(project: Path, numbers: Sequence[int], *, parents: bool = True) -> Dataset:
    """Return a gold set of the commits with these *numbers*."""
    commits = git(project, "rev-list", "--reverse", "HEAD").split()
    queries = []
    for place, number in enumerate(numbers):
        extra = {"commit_hash": commits[number]}
        if parents:
            extra["base_commit"] = commits[number - 1]
        queries.append(Query(f"q{place}", "n", (Target("n.py"),), extra=extra))
    return Dataset.of(queries, name="gold", metadata={"repository": str(project)})


def seen(trees: Trees) -> list[tuple[str, list[int]]]:
    return [(visit.corpus.read("n.py")[4:-1], sorted(visit.rows)) for visit in trees]


@pytest.mark.parametrize("parents", [True, False])
def test_the_trees_of_each_snapshot(project: Path, parents: bool) -> None:
    gold = mined(project, [4, 2, 4], parents=parents)
    expected = {
        "parent": [("1", [1]), ("3", [0, 2])],
        "base": [("1", [0, 1, 2])],
        "head": [("4", [0, 1, 2])],
        "child": [("2", [1]), ("4", [0, 2])],
    }
    for snapshot, visits in expected.items():
        with history_trees(gold, snapshot=snapshot) as trees:
            assert seen(trees) == visits
            # Another engine sees the same.
            assert seen(trees) == visits


def test_the_base_holds_no_change_of_the_gold_set(project: Path) -> None:
    git(project, "checkout", "--quiet", "-b", "side", "HEAD~4")
    (project / "n.py").write_text("n = 9\n")
    git(project, "commit", "--quiet", "-am", "side")
    side = git(project, "rev-parse", "HEAD")
    gold = mined(project, [1])
    git(project, "checkout", "--quiet", "-")
    both = [*mined(project, [3, 4]).queries(), *gold.queries()]
    queries = [query._replace(id=str(place)) for place, query in enumerate(both)]
    assert queries[2].extra["commit_hash"] == side
    one = Dataset.of(queries, metadata={"repository": str(project)})
    with history_trees(one, snapshot="base") as trees:
        assert seen(trees) == [("0", [0, 1, 2])]


def test_tests_are_candidates_where_they_are_wanted(project: Path) -> None:
    gold = mined(project, [2])
    counts = {}
    for candidates in (None, "production", "all"):
        with history_trees(gold, candidates=candidates) as trees:
            counts[candidates] = [len(visit.corpus) for visit in trees]
    assert counts == {None: [1], "production": [1], "all": [2]}
    metadata = {"repository": str(project), "candidates": "all"}
    made_for_all = Dataset.of(gold.queries(), metadata=metadata)
    with history_trees(made_for_all) as trees:
        assert trees.candidates == "all"
    assert [len(visit.corpus) for visit in corpus_trees(gold, str(project))] == [2]
    with pytest.raises(InputError, match="candidates 'some' are none of: production, all"):
        corpus_trees(gold, str(project), candidates="some")


def test_the_seed_decides_the_order_on_a_tree(project: Path) -> None:
    gold = mined(project, [2] * 20)
    orders = []
    for seed in (0, 0, 1):
        with history_trees(gold, seed=seed) as trees:
            orders += [visit.rows for visit in trees]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == list(range(20))
    assert orders[0] != tuple(range(20))


def test_a_folder_or_a_revision_of_it(project: Path) -> None:
    gold = mined(project, [2, 3])
    assert seen(corpus_trees(gold, str(project), revision="HEAD~2")) == [("2", [0, 1])]
    (project / "n.py").write_text("n = 7\n")
    assert seen(corpus_trees(gold, str(project))) == [("7", [0, 1])]


def test_several_repositories(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(project), str(other))
    extras = [query.extra for query in mined(project, [2, 4]).queries()]
    queries = [
        Query("a", "n", (), {"repository": "a"}, {**extras[0], "repository": str(project)}),
        Query("b", "n", (), {"repository": "b"}, {**extras[1], "repository": "/nowhere"}),
    ]
    gold = Dataset.of(queries, name="gold", metadata={"repository": f"{project}, /nowhere"})
    with (
        pytest.raises(InputError, match="gold was mined from /nowhere, which is not here"),
        history_trees(gold),
    ):
        pass
    with history_trees(gold, {"b": str(other)}) as trees:
        assert seen(trees) == [("1", [0]), ("3", [1])]
    with (
        pytest.raises(InputError, match="gold: no repository 'c'; it has a, b"),
        history_trees(gold, {"c": str(other)}),
    ):
        pass
    with history_trees(gold, {"": str(other)}) as trees:
        assert trees.place == str(other)
        assert seen(trees) == [("1", [0]), ("3", [1])]


def test_what_cannot_be_searched_is_told(project: Path, tmp_path: Path) -> None:
    gold = mined(project, [2])
    bare = Dataset.of([Query("q", "n", ())], name="bare", metadata=gold.metadata)
    homeless = Dataset.of(gold.queries(), name="homeless")
    for wrong, snapshot, message in (
        (gold, "now", "snapshot 'now' is none of: parent, base, head, child"),
        (bare, "parent", "bare: case 'q' names no commit; expected a gold set mined from Git"),
        (homeless, "parent", "homeless names no repository; name it with --repo"),
    ):
        with pytest.raises(InputError, match=message), history_trees(wrong, snapshot=snapshot):
            pass
    git(tmp_path, "init", "--quiet", "empty")
    with (
        history_trees(gold, {"": str(tmp_path / "empty")}) as trees,
        pytest.raises(InputError, match=r"no revision '[0-9a-f]{40}'; expected a commit"),
    ):
        list(trees)
