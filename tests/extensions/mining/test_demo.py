"""The bundled history: it can be built, mined, and answers one question."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.extensions.mining import demo
from karat.extensions.mining.generate import generate
from karat.extensions.mining.recipe import MiningRecipe
from karat.model import Dataset, Query, Target
from karat.model.comparison import Comparison
from karat.scoring.stats.paired import compare


@pytest.fixture(scope="module")
def history() -> list[demo.DemoCommit]:
    return list(demo.read_history())


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo.build_repository(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def gold(repository: Path) -> Dataset:
    return generate([str(repository)], MiningRecipe(limit=0)).dataset


def test_every_version_of_a_python_file_can_be_parsed(history: list[demo.DemoCommit]) -> None:
    assert len(history) > 150
    for commit in history:
        for path, text in commit.files.items():
            if text is not None and path.endswith(".py"):
                ast.parse(text, filename=f"{commit.message}: {path}")


def test_the_same_text_gives_the_same_commits(
    repository: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    again = demo.build_repository(tmp_path)
    assert git(again, "rev-parse", "main") == git(repository, "rev-parse", "main")
    assert demo.build_repository(tmp_path) == again, "a folder can be used again"
    assert len(git(again, "rev-list", "main").split()) == len(list(demo.read_history()))
    assert git(again, "show", "main:kiosk/text/plural.py").startswith('"""One item, two items."""')


def test_the_mined_queries_are_enough_and_name_few_files(gold: Dataset) -> None:
    assert len(gold) >= 100
    assert "Shutdown hangs when the queue is empty" in gold.texts
    # A query with the name of its file would be an easy one for every engine.
    assert gold.tags["leak"].count("none") > len(gold) / 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("=== ada Start\n+++ a.py\nx = 1\n=== ada Fix it\n@@ a.py\n-y = 1\n+y = 2\n", "Fix it"),
        ("=== ada Start\n+++ a.py\nx = 1\nx = 1\n=== ada Fix it\n@@ a.py\n-x = 1\n", "Fix it"),
    ],
)
def test_a_change_that_does_not_fit_is_an_error(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "history.txt").write_text(text)
    with pytest.raises(InputError, match=f"{said}: these lines do not occur exactly once"):
        list(demo.read_history(tmp_path / "history.txt"))


def test_a_deleted_file_is_gone(tmp_path: Path, git: Callable[..., str]) -> None:
    text = "=== ada Start\nWhy.\n+++ a.py\nx = 1\n+++ b.py\n\n=== ada Drop b\n--- b.py\n"
    (tmp_path / "history.txt").write_text(text)
    built = demo.build_repository(tmp_path, tmp_path / "history.txt")
    assert git(built, "ls-tree", "--name-only", "main").split() == ["a.py"]
    assert git(built, "log", "--format=%B", "main~1").split("\n")[:3] == ["Start", "", "Why."]


def scores(**systems: list[float]) -> Comparison:
    """Return a comparison of *systems* by their scores."""
    values = [[[score] for score in scores] for scores in systems.values()]
    return compare(values, systems=[*systems], metrics=["ndcg@10"], draws=999)


def test_only_significant_differences_are_called_better() -> None:
    low, high = [0.1, 0.2, 0.15, 0.1] * 10, [0.8, 0.9, 0.85, 0.7] * 10
    other = [0.9, 0.8, 0.7, 0.8] * 10
    assert demo.answer(scores(a=low, b=high)) == (
        "b ranks the right file highest (ndcg@10 0.812): significantly better than a."
    )
    assert demo.answer(scores(a=low, b=high, c=other)).endswith(
        ": significantly better than a, not significantly better than c."
    )


def test_engines_that_share_the_highest_mean_are_all_named() -> None:
    low, high = [0.1, 0.2] * 20, [0.8, 0.9] * 20
    assert demo.answer(scores(a=high, b=high, c=low)) == (
        "a and b rank the right file highest (ndcg@10 0.850): significantly better than c."
    )
    assert demo.answer(scores(a=low, b=low)) == (
        "a and b rank the right file highest (ndcg@10 0.150)."
    )


def test_a_long_path_is_shortened_on_the_left() -> None:
    path = "src/a_package/a_very_long_folder/of_modules/paired.py"
    table = demo.case_table(Dataset.of([Query("q", "where", (Target(path),))]))
    assert table.rows[0][1].text.startswith("...")
    assert table.rows[0][1].text.endswith("paired.py")
