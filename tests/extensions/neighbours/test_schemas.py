"""Results in the shapes of other benchmarks."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import nan
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.app.schemas import RunExport
from karat.errors import FormatError
from karat.extensions.neighbours.schemas import (
    OctocodeResults,
    QueryReport,
    Report,
    akashic_report,
    octocode_results,
    write_comparison,
    write_octocode_results,
    write_report,
)
from karat.formats import detect, read_run
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.timings import RunResult
from karat.scoring.settings import Confidence, Scoring
from tests.app.test_schemas import JUDGED

Karat = Callable[..., CompletedProcess[str]]


def test_akashic() -> None:
    report = akashic_report(JUDGED)
    assert report.config == {
        "name": "bm25",
        "top_k": 10,
        "engine": {"name": "bm25", "options": {}},
    }
    summary = report.summary
    # By hand: (1/2 + 1 + 0) / 3, and the recall of a is one target of two.
    assert (summary["total_queries"], summary["avg_mrr"]) == (3, 0.5)
    assert (summary["avg_recall_at_5"], summary["avg_latency_ms"]) == (0.5, 3.0)
    interval = summary["avg_mrr_ci"]
    assert isinstance(interval, list)
    assert interval[0] < 0.5 < interval[1]
    assert report.category_metrics["code"]["count"] == 2
    assert report.category_metrics["code"]["avg_mrr"] == 0.75
    first, *_, last = report.query_results
    assert (first.category, len(first.hits), first.expected_files) == ("code", 3, ["a.py", "b.py"])
    assert (first.metrics["mrr"], first.metrics["latency_ms"]) == (0.5, 2.0)
    assert (last.metrics["mrr"], list(last.hits)) == (0.0, [])


def test_octocode() -> None:
    results = octocode_results(JUDGED)
    assert (results.queries, results.errors) == (3, 1)
    assert results.hit_at_5 == pytest.approx(2 / 3)
    assert results.mrr == 0.5


def test_a_lowest_grade_is_kept() -> None:
    strict = replace(JUDGED, scoring=Scoring(level=2.0), confidence=Confidence(draws=0))
    assert akashic_report(strict).summary["avg_mrr_ci"] is None
    assert octocode_results(strict).hit_at_5 == 0.0


def test_queries_that_belong_together_are_drawn_together() -> None:
    queries = [
        Query(f"{case}{n}", "", (Target("a.py"),), {"case": case})
        for case in "abcdefgh"
        for n in range(3)
    ]
    run = Run.of([Answer(query.id, (Hit("a.py"),)) for query in queries[:12]], name="half")
    alone, together = (
        akashic_report(
            RunExport(
                Dataset.of(queries, metadata=metadata), RunResult(run, None, "", "half"), "now"
            )
        ).summary
        for metadata in ({}, {"cluster": "case"})
    )
    assert alone["avg_mrr"] == together["avg_mrr"] == 0.5
    near, far = alone["avg_mrr_ci"], together["avg_mrr_ci"]
    assert isinstance(near, list)
    assert isinstance(far, list)
    assert far[0] < near[0] < near[1] < far[1]


def test_what_was_not_measured() -> None:
    untimed = replace(JUDGED, measured=replace(JUDGED.measured, timings=None))
    assert akashic_report(untimed).summary["avg_latency_ms"] is None


def same(answers: list[Answer], expected: list[Answer]) -> bool:
    """Say whether two lists of answers are equal; repr, because NaN is not itself."""
    return repr(answers) == repr(expected)


REPORT = Report(
    {"name": "c512", "chunk_size": 512},
    "2026-01-30T12:00:00",
    {"total_queries": 1, "avg_mrr": 0.5, "avg_mrr_ci": (0.25, nan)},
    {"function_search": {"count": 1, "avg_mrr": 0.5}},
    [
        QueryReport(
            "q1",
            "collision",
            "function_search",
            [Hit("a.cpp", 0.9, symbol="f"), Hit("b.cpp")],
            ["b.cpp"],
            [],
            {"mrr": 0.5, "latency_ms": 3.0},
        )
    ],
)


def test_report_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(REPORT, path)
    value = json.loads(path.read_text())
    assert value["summary"]["avg_mrr_ci"] == [0.25, None]
    assert value["query_results"][0]["results"] == [
        {"file_path": "a.cpp", "symbol_name": "f", "score": 0.9, "rank": 1},
        {"file_path": "b.cpp", "symbol_name": None, "score": None, "rank": 2},
    ]
    assert list(value) == list(Report._fields)
    assert detect(path).name == "akashic-report"
    run = read_run(path)
    assert run.name == "c512"
    hits = (Hit("a.cpp", 0.9, symbol="f"), Hit("b.cpp"))
    assert same(list(run.answers()), [Answer("q1", hits, latency_ns=3_000_000)])


def test_the_rank_orders_a_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    rows = [{"file_path": "b", "rank": 2}, {"file_path": "a", "rank": 1}]
    path.write_text(json.dumps({"query_results": [{"query_id": "q", "results": rows}]}))
    assert [hit.path for hit in read_run(path).answer(0).hits] == ["a", "b"]
    rows[0]["rank"] = 0
    rows[1]["file_path"] = ""
    path.write_text(json.dumps({"query_results": [{"query_id": "q", "results": rows}]}))
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert [problem.message for problem in caught.value.problems] == [
        "query_results[0].results[0].rank: 0 is out of range; expected 1 or more",
        "query_results[0].results[1].file_path: the text is empty",
    ]


def test_comparison(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write_comparison([REPORT, REPORT], path, timestamp="2026-01-30")
    value = json.loads(path.read_text())
    assert (value["timestamp"], value["num_configs"]) == ("2026-01-30", 2)
    assert [report["config"]["name"] for report in value["reports"]] == ["c512", "c512"]


def test_octocodes_averages_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    write_octocode_results(OctocodeResults(127, 1, 0.9, 0.95, 0.8, nan, 0.7, None), path)
    assert json.loads(path.read_text()) == {
        "queries": 127,
        "errors": 1,
        "hit_at_5": 0.9,
        "hit_at_10": 0.95,
        "mrr": 0.8,
        "ndcg_at_10": None,
        "recall_at_5": 0.7,
        "recall_at_10": None,
    }


def test_the_shapes_of_other_benchmarks(karat: Karat, experiment_id: str, folder: Path) -> None:
    done = karat("report", "latest", "-o", "a.json", "--schema", "akashic", "--draws", "99")
    assert done.returncode == 0, done.stderr
    compared = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    assert compared["num_configs"] == 2
    assert compared["reports"][0]["summary"]["avg_mrr"] == 0.25
    done = karat("report", f"{experiment_id}.2", "-o", "o.json", "--schema", "octocode")
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "o.json").read_text(encoding="utf-8"))["mrr"] == 1.0
    alone = karat("report", f"{experiment_id}.2", "-o", "one.json", "--schema", "akashic")
    assert alone.returncode == 0, alone.stderr
    assert "summary" in json.loads((folder / "one.json").read_text(encoding="utf-8"))


def test_a_shape_that_does_not_fit(karat: Karat, experiment_id: str) -> None:
    done = karat("report", "latest", "-o", "out.html", "--schema", "akashic")
    assert done.returncode == 2
    assert "--schema akashic writes .json files" in done.stderr
