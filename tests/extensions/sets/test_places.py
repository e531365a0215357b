"""Which gold sets --set names, and what they are called."""

from pathlib import Path

import pytest

from karat.errors import InputError
from karat.extensions.sets.places import SetPlace, find_sets

GOLD = "query,documents\nwhat,a.md\n"


def test_names_are_the_shortest_ends_that_are_unique(tmp_path: Path) -> None:
    for name in ("x/gold.csv", "y/gold.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(GOLD)
    x, y = f"{tmp_path}/x/gold.csv", f"{tmp_path}/y/gold.csv"
    assert find_sets([f"{x}=docs", y]) == (
        SetPlace("x-gold", x, "docs"),
        SetPlace("y-gold", y, None),
    )


def test_a_folder_of_gold_sets_leaves_out_other_files(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text(GOLD)
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / ".hidden.csv").write_text(GOLD)
    (tmp_path / "docs").mkdir()
    assert [place.name for place in find_sets([str(tmp_path)])] == ["a", "b"]


def test_ids_of_ir_datasets_are_sets() -> None:
    first, second = find_sets(["irds:beir/scifact/test=scifact", "irds:beir/nfcorpus/test=nf"])
    assert first == SetPlace("scifact-test", "irds:beir/scifact/test", "scifact")
    assert second.name == "nfcorpus-test"


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no gold set in this folder; expected a BEIR folder"):
        find_sets([str(tmp_path)])
