"""Group queries by the values of a tag."""

import pytest

from karat.errors import InputError
from karat.model import Dataset, Query, Target
from karat.scoring.score import cluster_labels, slice_rows

GOLD = Dataset.of(
    [
        Query("q1", "", (Target("a.py", 1.0), Target("b.py", 1.0)), {"level": "hard"}),
        Query("q2", "", (Target("a.py", 1.0), Target("b.rs", 1.0))),
        Query("q3", "", (Target("Makefile", 1.0),), {"level": "easy"}),
        Query("q4", "", (Target("src.d/c.py", 1.0),), {"level": "hard"}),
    ]
)


def test_rows_by_value_in_order_of_appearance() -> None:
    assert slice_rows(GOLD, ["level"]) == {
        "level": {"hard": [0, 3], "(untagged)": [1], "easy": [2]}
    }


def test_file_types_come_from_the_targets() -> None:
    assert slice_rows(GOLD, ["file-type"]) == {
        "file-type": {".py": [0, 3], "mixed": [1], "(none)": [2]}
    }


def test_plain_judgments_have_file_types_too() -> None:
    assert slice_rows({"q": {"a.py": 1}, "r": {"b": 1}}, ["file-type"]) == {
        "file-type": {".py": [0], "(none)": [1]}
    }


def test_several_tags_are_each_a_slicing() -> None:
    assert list(slice_rows(GOLD, ["file-type", "level"])) == ["file-type", "level"]
    assert slice_rows(GOLD, []) == {}


def test_a_cluster_is_the_value_of_each_query() -> None:
    assert cluster_labels(GOLD, "level") == ["hard", "(untagged)", "easy", "hard"]
    assert cluster_labels(GOLD, None) is None


def test_an_unknown_tag_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="tagged with 'team'; available: level, file-type"):
        slice_rows(GOLD, ["team"])
    with pytest.raises(InputError, match="tagged with 'team'; available: file-type"):
        cluster_labels({"q": {"a": 1}}, "team")


def test_a_gold_set_may_say_what_belongs_together() -> None:
    queries = list(GOLD.queries())
    says = Dataset.of(queries, metadata={"cluster": "level"})
    assert cluster_labels(says, None) == ["hard", "query q2", "easy", "hard"]
    assert cluster_labels(says, "file-type") == [".py", "mixed", "(none)", ".py"]
    assert cluster_labels(GOLD, None) is None
    assert cluster_labels(Dataset.of(queries, metadata={"cluster": "gone"}), None) is None
    assert cluster_labels(Dataset.of(queries[:3], metadata={"cluster": "level"}), None) is None
