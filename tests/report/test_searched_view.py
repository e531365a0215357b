"""A reader learns what was searched, what was not there, and what it cost."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from karat.model import Run
from karat.model.coverage import CorpusCoverage
from karat.model.timings import RunResult
from karat.report.score_view import remarks, run_remarks, warning

HEAD = CorpusCoverage("head", "project", "all", 1, 144, 144, 2_000, 1_500, 1)


def test_what_is_not_there() -> None:
    assert list(remarks(HEAD)) == [
        "searched: all queries on HEAD (head), 1 version of 144 documents",
        "candidates: all files, tests included",
        "targets: 1,500 of 2,000 targets (75.0%) do not exist in the searched "
        "version (1 query with no "
        "other) and count as missed; the table below excludes them",
    ]
    no_query_lost = list(remarks(replace(HEAD, lost_queries=0)))
    assert "do not exist in the searched version and count as missed" in no_query_lost[-1]
    nothing_left = list(remarks(replace(HEAD, unresolved=2_000)))
    assert nothing_left[-1].endswith("and count as missed")


def test_where_it_was_carried_to() -> None:
    line = next(remarks(replace(HEAD, snapshot="carried", revision="0123456789abcdef")))
    assert line.startswith(
        "searched: each query on the version that the gold set was "
        "updated to, 0123456789ab, 1 version"
    )


@pytest.mark.parametrize("snapshot", ["parent", "base", "carried", "corpus"])
def test_what_can_be_trusted_has_no_warning(snapshot: str) -> None:
    assert warning(replace(HEAD, snapshot=snapshot)) == ""


def test_what_misleads_has_one() -> None:
    assert "1,500 of 2,000 targets (75.0%) do not exist there" in warning(HEAD)
    assert "contains its answer" in warning(replace(HEAD, snapshot="child"))
    assert "0 of 0 targets (0.0%)" in warning(replace(HEAD, targets=0, unresolved=0))


def test_what_a_run_cost_and_what_was_odd() -> None:
    notes = {
        "work": {"rows": 1_200, "embedded": 900, "reused": 300},
        "unstable": ["a", "b", "c", "d"],
    }
    assert list(run_remarks([RunResult(Run.of([]), None, "", "dense", notes)], 1)) == [
        "work: dense indexed 1,200 rows for 1 version, 900 embedded, 300 reused",
        "dense: not deterministic: 4 queries returned different hits when repeated: a, b, c, ...",
    ]
    assert not list(run_remarks([RunResult(Run.of([]), None, "", "rg", {"unstable": []})], 1))


def test_an_index_is_told_once_for_all_that_share_it() -> None:
    words, vectors = {"rows": 40}, {"rows": 40, "embedded": 60, "reused": 0}
    group = ["bm25", "dense", "hybrid"]
    varies = " (depends on how workers divide them)"

    def told(*runs: tuple[str, Mapping[str, int], list[str]]) -> list[str]:
        measured = [
            RunResult(Run.of([]), None, name, name, {"work": work, "together": together})
            for name, work, together in runs
        ]
        return list(run_remarks(measured, 3))

    assert told(("dense", vectors, group), ("hybrid", vectors, group)) == [
        (
            f"work: dense, hybrid share an index of 40 rows for 3 "
            f"versions{varies}, 60 embedded, 0 reused"
        )
    ]
    assert told(
        ("bm25", words, group),
        ("dense", vectors, group),
        ("hybrid", vectors, group),
        ("files", {"rows": 9}, group),
    ) == [
        f"work: bm25, dense, hybrid share an index of 40 rows for 3 "
        f"versions{varies}; dense, hybrid: "
        "60 embedded, 0 reused",
        f"work: files indexed 9 rows for 3 versions{varies}",
    ]
    alone = [
        RunResult(Run.of([]), None, engine, name, {"work": words})
        for engine, name in (("a", "bm25 @5"), ("a", "bm25 @9"), ("b", "own"))
    ]
    assert list(run_remarks(alone, 1)) == [
        "work: bm25 @5, bm25 @9 share an index of 40 rows for 1 version",
        "work: own indexed 40 rows for 1 version",
    ]


def test_of_one_corpus_only_embeddings_are_told() -> None:
    runs = [
        RunResult(Run.of([]), None, "x", name, {"work": work, "together": ["x"]})
        for name, work in (("bm25", {"rows": 24}), ("hybrid", {"rows": 24, "embedded": 12}))
    ]
    assert list(run_remarks(runs, 1, indexed=False)) == ["work: hybrid: 12 embedded"]
    assert list(run_remarks(runs[1:], 1, indexed=False)) == ["work: hybrid: 12 embedded"]
    assert list(run_remarks(runs[:1], 1, indexed=False)) == []
