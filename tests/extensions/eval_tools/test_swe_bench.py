"""Results of SWE-bench."""

import pytest

from karat.errors import FormatError
from tests.extensions.eval_tools.conftest import Read, Write, columns, statuses

DETAILS = {
    "django__django-1": {"resolved": True, "cost": 0.5, "api_calls": 19},
    "pytest-dev__pytest-2": {"resolved": False, "cost": 0.25, "api_calls": 12},
}


def test_details_of_several_systems(write: Write, read: Read) -> None:
    other = {name: {**each, "resolved": True} for name, each in DETAILS.items()}
    scores = read("swe-bench", write("info.json", {"gpt-5": DETAILS, "sonnet-4": other})).scores
    assert columns(scores, "resolved") == {"gpt-5": [1.0, 0.0], "sonnet-4": [1.0, 1.0]}
    assert columns(scores, "cost")["gpt-5"] == [0.5, 0.25]
    assert [each.text for each in scores.measures] == [
        "resolved (0/1)",
        "cost (lower is better)",
        "api_calls (lower is better)",
    ]
    assert scores.tags["repository"] == ("django/django", "pytest-dev/pytest")


def test_details_of_one_submission(write: Write, read: Read) -> None:
    path = write("bash-only/mini_gpt-5/per_instance_details.json", DETAILS)
    assert read("swe-bench", path).scores.systems == ("mini_gpt-5",)
    assert read("swe-bench", path.parents[1]).scores.systems == ("mini_gpt-5",)
    boards = [
        {"name": "x", "results": [{"name": "A", "folder": "a", "per_instance_details": DETAILS}]}
    ]
    path = write("leaderboards.json", {"leaderboards": boards})
    assert columns(read("swe-bench", path).scores, "resolved") == {"A": [1.0, 0.0]}


def test_a_list_of_resolved_instances_needs_the_others(write: Write, read: Read) -> None:
    lists = {"a": (["i-1", "i-2"], ["i-3"]), "b": (["i-4"], [])}
    paths = [
        write(
            f"verified/{name}/results/results.json",
            {"resolved": resolved, "no_generation": nothing, "no_logs": []},
        )
        for name, (resolved, nothing) in lists.items()
    ]
    expected = {"a": [1.0, 1.0, 0.0, 0.0], "b": [0.0, 0.0, 0.0, 1.0]}
    assert columns(read("swe-bench", paths[0].parents[2]).scores, "resolved") == expected
    assert columns(read("swe-bench", *paths).scores, "resolved") == expected
    alone = write("alone/c/results/results.json", {"resolved": ["i-1"], "no_generation": []})
    with pytest.raises(FormatError, match="names the resolved instances, and not those that were"):
        read("swe-bench", alone)


def test_a_report_of_the_harness(write: Write, read: Read) -> None:
    report = {
        "total_instances": 4,
        "resolved_ids": ["i-1"],
        "unresolved_ids": ["i-2"],
        "error_ids": ["i-3"],
        "empty_patch_ids": ["i-4"],
        "incomplete_ids": [],
    }
    scores = read("swe-bench", write("gpt-5.run1.json", report)).scores
    assert scores.systems == ("gpt-5.run1",)
    assert dict(zip(scores.query_ids, statuses(scores, "gpt-5.run1"), strict=True)) == {
        "i-2": "SCORED",
        "i-1": "SCORED",
        "i-3": "ERROR",
        "i-4": "ERROR",
    }
