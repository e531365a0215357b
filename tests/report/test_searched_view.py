"""A reader learns what was searched, what was not there, and what it cost."""

from dataclasses import replace

import pytest

from karat.model.searched import Searched, Work
from karat.report.searched_view import remarks, warning, work_line

HEAD = Searched("head", "project", "all", 1, 144, 144, 2_000, 1_500, 1)


def test_what_is_not_there() -> None:
    assert list(remarks(HEAD)) == [
        "searched: all queries on HEAD (head), 1 tree of 144 documents",
        "candidates: all, tests among them",
        "targets: 1,500 of 2,000 targets (75.0%) are not in the tree searched (1 query with no "
        "other) and count as missed; the table below is without them",
    ]
    no_query_lost = list(remarks(replace(HEAD, lost_queries=0)))
    assert "not in the tree searched and count as missed" in no_query_lost[-1]
    nothing_left = list(remarks(replace(HEAD, unresolved=2_000)))
    assert nothing_left[-1].endswith("and count as missed")


def test_where_it_was_carried_to() -> None:
    line = next(remarks(replace(HEAD, snapshot="carried", revision="0123456789abcdef")))
    assert line.startswith(
        "searched: each query on the tree that the set was carried to, 0123456789ab, 1 tree"
    )


@pytest.mark.parametrize("snapshot", ["parent", "base", "carried", "corpus"])
def test_what_can_be_trusted_has_no_warning(snapshot: str) -> None:
    assert warning(replace(HEAD, snapshot=snapshot)) == ""


def test_what_misleads_has_one() -> None:
    assert "1,500 of 2,000 targets (75.0%) are gone" in warning(HEAD)
    assert "holds its answer" in warning(replace(HEAD, snapshot="child"))
    assert "0 of 0 targets (0.0%)" in warning(replace(HEAD, targets=0, unresolved=0))


def test_work() -> None:
    dense = Work({"rows": 1_200, "embedded": 900, "reused": 300}, 1_000, 1_000)
    line = "work: dense indexed 1,200 rows for 1 tree, 900 embedded, 300 reused"
    assert work_line("dense", dense, 1) == line
    empty = Work({"rows": 0}, 0, 0)
    assert work_line("bm25", empty, 2) == "work: bm25 indexed 0 rows for 2 trees"
