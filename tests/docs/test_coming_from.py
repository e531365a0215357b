"""The first snippets of ranx, ir_measures and PyTerrier, written for Karat, give their numbers.

`peers.json` has data and the numbers that ranx and ir_measures printed for them. Those of PyTerrier
are trec_eval's, computed here by pytrec_eval.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

import karat

PEERS: dict[str, Any] = json.loads((Path(__file__).parent / "peers.json").read_text("utf-8"))
GOLD: dict[str, dict[str, float]] = PEERS["gold"]
RUNS: dict[str, dict[str, dict[str, float]]] = PEERS["runs"]


class RanxObject:
    """Qrels and Run of ranx have a dictionary, and a Run has a name."""

    def __init__(self, values: dict[str, dict[str, float]], name: str | None = None) -> None:
        self.values, self.name = values, name

    def to_dict(self) -> dict[str, dict[str, float]]:
        return self.values


def test_the_readme_of_ranx() -> None:
    qrels_dict = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
    run_dict = {
        "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6, "d_32": 0.5, "d_35": 0.4},
        "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.7, "d_36": 0.6, "d_22": 0.5, "d_35": 0.4},
    }
    evaluation = karat.evaluate(qrels_dict, run_dict, ["ndcg@5", "map@5", "mrr"])
    # As printed there: 0.7861, {"map@5": 0.6416, "mrr": 0.75}.
    assert f"{evaluation['ndcg@5']:.4f}" == "0.7861"
    assert evaluation["map@5"] == pytest.approx(0.64166666)
    assert evaluation["mrr"] == 0.75


@pytest.mark.parametrize("name", sorted(RUNS))
def test_objects_of_ranx_score_as_in_ranx(name: str) -> None:
    expected = PEERS["ranx"][name]
    found = karat.evaluate(RanxObject(GOLD), RanxObject(RUNS[name], name), list(expected))
    assert found.name == name
    assert dict(found) == pytest.approx(expected, abs=1e-9)


def test_the_comparison_of_ranx() -> None:
    runs = [RanxObject(run, name) for name, run in RUNS.items()]
    report = karat.compare(RanxObject(GOLD), runs, ["map@100", "mrr@100", "ndcg@10"])
    assert report["dense"]["map@100"] == pytest.approx(PEERS["ranx"]["dense"]["map@100"])
    table = report.to_latex()
    assert r"\textbf" in table
    assert "map@100" in table


@pytest.mark.parametrize("name", sorted(RUNS))
def test_measures_of_ir_measures_score_as_there(name: str) -> None:
    expected = PEERS["ir_measures"][name]
    found = karat.evaluate(GOLD, RUNS[name], list(expected))
    assert dict(found) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", sorted(RUNS))
def test_queries_of_ir_measures_score_as_there(name: str) -> None:
    found = karat.evaluate(GOLD, RUNS[name], ["nDCG@10", "RR"], confidence=None)
    for measure, scores in PEERS["per_query"][name].items():
        assert found.per_query(measure) == pytest.approx(scores, abs=1e-9)


def test_the_experiment_of_pyterrier() -> None:
    polars = pytest.importorskip("polars")
    qrels = polars.DataFrame(
        [(q, d, g) for q, grades in GOLD.items() for d, g in grades.items()],
        schema=["qid", "docno", "label"],
        orient="row",
    )
    results = {
        name: polars.DataFrame(
            [(q, d, s) for q, scores in run.items() for d, s in scores.items()],
            schema=["qid", "docno", "score"],
            orient="row",
        )
        for name, run in RUNS.items()
    }
    found = karat.compare(qrels, results, ["map", "recip_rank", "ndcg_cut_10"])
    whole = {q: {d: int(g) for d, g in grades.items()} for q, grades in GOLD.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(whole, {"map", "recip_rank", "ndcg_cut"})
    for name, run in RUNS.items():
        scores = evaluator.evaluate(run)
        for measure in ("map", "recip_rank", "ndcg_cut_10"):
            mean = sum(query[measure] for query in scores.values()) / len(scores)
            assert found[name][measure] == pytest.approx(mean, abs=1e-9)
    frame = found.to_polars(summary=True)
    assert frame.columns[:3] == ["run", "measure", "mean"]
    assert frame.filter(polars.col("p").is_not_null()).height == 3
