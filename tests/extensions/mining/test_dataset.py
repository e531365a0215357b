"""A gold set says how it was made, and nothing about when."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from karat.errors import InputError, MissingExtra
from karat.extensions.mining.filters import CaseLimits, Filters
from karat.extensions.mining.mine import build_dataset, mine
from karat.extensions.mining.recipe import MiningRecipe
from karat.extensions.mining.targets import Grain
from karat.formats import read_dataset, write
from karat.installation import install_hint
from karat.system.files import unique_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.git_history import Builder


def test_metadata(project: "Builder") -> None:
    recipe = MiningRecipe(filters=Filters(exclude=("*.js",)), seed=3, since="2020-01-01")
    made = build_dataset([mine(project.path, recipe)], recipe, tool="karat 1")
    head, time = project.git("show", "-s", "--format=%H %cI", "main").split()
    about: dict[str, Any] = dict(made.metadata)
    (repository,) = about.pop("repositories")
    assert about == {
        "repository": project.path,
        "generated_at": time.replace("+00:00", "Z"),
        "total_commits_analyzed": 14,
        "test_cases_generated": 6,
        "tool": "karat 1",
        "level": "file",
        "hardness": ["cleaned"],
        "adversarial": False,
        "candidates": "production",
        "kind": "code",
        "unit": "commit",
        "branch": "HEAD",
        "since": "2020-01-01",
        "until": "",
        "max_commits": 0,
        "limit": 250,
        "seed": 3,
        "filters": {
            "min_files": 1,
            "max_files": 10,
            "min_words": 3,
            "max_words": 30,
            "off": [],
            "exclude_patterns": ["*.js"],
        },
    }
    assert repository["head"] == head
    fall = repository.pop("waterfall")
    assert (fall["root"], fall["docs-only"], fall["code-equal"]) == (1, 6, 1)
    assert sum(fall.values()) == repository["commits"] - repository["cases"] == 8


def test_where_other_files_are_targets_all_are_searched(project: "Builder") -> None:
    recipe = MiningRecipe(filters=Filters(off=frozenset({"tests-only"})))
    made = build_dataset([mine(project.path, recipe)], recipe, tool="")
    assert made.metadata["candidates"] == "all"


@pytest.mark.parametrize("grain", Grain)
def test_nothing_is_lost_in_the_file(project: "Builder", tmp_path: Path, grain: Grain) -> None:
    recipe = MiningRecipe(grain=grain)
    made = build_dataset([mine(project.path, recipe)], recipe, tool="")
    write(made, tmp_path / "gold.json", format="gold")
    assert read_dataset(tmp_path / "gold.json") == made
    assert made.match == {"file": "exact", "line": "lines", "symbol": "symbol"}[grain]


def test_several_repositories(
    project: "Builder", new_history: "Callable[[], Builder]", tmp_path: Path
) -> None:
    other = new_history()
    other.commit({"a.py": "x = 1\n"}, "Start")
    other.commit({"a.py": "x = 2\n"}, "Count visitors twice in reports")
    recipe = MiningRecipe()
    made = build_dataset([mine(project.path, recipe), mine(other.path, recipe)], recipe, tool="")
    assert made.name == "history0 + history1"
    assert made.query_ids[-1].startswith("history1-")
    assert made.tags["repository"] == ("history0",) * 6 + ("history1",)
    assert made.extras[-1]["repository"] == other.path
    assert made.metadata["total_commits_analyzed"] == 16


def test_a_repository_counts_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="given twice"):
        unique_names([str(tmp_path), f"{tmp_path}/../{tmp_path.name}"])


def test_fewer_than_the_fewest_is_refused() -> None:
    with pytest.raises(InputError, match="--min-files 3 is above --max-files 2"):
        MiningRecipe(filters=Filters(CaseLimits(3, 2)))


def test_without_grammars(project: "Builder", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.extensions.mining.mine.have_grammars", lambda: False)
    made = mine(project.path, MiningRecipe())
    assert len(made.queries) == 7
    assert install_hint("code") in made.unreadable.notes[0]
    with pytest.raises(MissingExtra, match=r"pip install .*\[code\]"):
        mine(project.path, replace(MiningRecipe(), grain=Grain.SYMBOL))
