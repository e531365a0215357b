"""Agreement with an independent implementation: trec_eval 9, through pytrec_eval."""

from dataclasses import replace
from json import loads
from math import log
from pathlib import Path
from random import Random
from typing import Any

import pytest
import pytrec_eval

from karat.extensions.trec_eval.names import Value, values
from karat.model import JudgedRun
from karat.scoring.matching import judge
from karat.scoring.metrics import Measure, evaluate

Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]

NO_NUMBER = {"runid", "relstring"}
# trec_eval 10 has these, trec_eval 9 does not.
NEWER = {"rbp", "rbp_resid", "unj"}


def collection(seed: int, *, grades: tuple[int, ...], tied: bool) -> tuple[Grades, Scores]:
    """Return judgments and a run of up to 60 documents per query, by chance from *seed*."""
    chance = Random(seed)
    documents = [f"d{number}" for number in range(80)]
    judged: Grades = {}
    run: Scores = {}
    for number in range(4):
        query = f"q{number}"
        pool = chance.sample(documents, chance.randint(2, 60))
        judged[query] = {document: chance.choice(grades) for document in pool}
        judged[query][pool[0]] = max(grades)
        returned = chance.sample(documents, chance.randint(1, 60))
        run[query] = {
            document: float(chance.randint(0, 6)) if tied else chance.random()
            for document in returned
        }
    return judged, run


def as_version_9(value: Value) -> Measure:
    """Return the measure with the recall points rounded as trec_eval 9 rounds them."""
    assert value.measure is not None
    if value.measure.metric not in ("iprec", "11pt-avg"):
        return value.measure
    params = tuple(sorted([*value.measure.params, ("version", 9.0)]))
    return replace(value.measure, params=params)


def ours(judged: JudgedRun, level: int) -> dict[str, dict[str, float]]:
    requested = [
        value
        for value in values(["all_trec"], level=level)
        if value.family not in NO_NUMBER | NEWER
    ]
    measures = [as_version_9(value) for value in requested]
    table = evaluate(judged, measures, score_unjudged=True)
    by_query: dict[str, dict[str, float]] = {query: {} for query in judged.query_ids}
    for value, measure in zip(requested, measures, strict=True):
        for query, score in zip(judged.query_ids, table.columns[str(measure)], strict=True):
            if measure.definition.average == "geometric":
                by_query[query][value.name] = log(max(score, 0.00001))
            else:
                by_query[query][value.name] = score
    return by_query


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("grades", "level"),
    # trec_eval reads past its table of grades where none reaches the level.
    [
        ((0, 1), 1),
        ((0, 0, 1, 2, 3), 1),
        ((0, 0, 1, 2, 3), 2),
        ((-1, 0, 0, 1, 4), 1),
        ((-1, 0, 0, 1, 4), 2),
    ],
    ids=str,
)
def test_every_measure_that_pytrec_eval_supports(
    seed: int, grades: tuple[int, ...], level: int
) -> None:
    truth, run = collection(seed, grades=grades, tied=seed % 2 == 0)
    evaluator = pytrec_eval.RelevanceEvaluator(
        truth, pytrec_eval.supported_measures, relevance_level=level
    )
    theirs = evaluator.evaluate(run)
    by_query = ours(judge(truth, run, ties="trec9"), level)
    assert set(by_query["q0"]) == set(theirs["q0"]) - NO_NUMBER
    for query, scores in by_query.items():
        for name, score in scores.items():
            assert score == pytest.approx(theirs[query][name], abs=1e-9), (query, name)


@pytest.fixture(scope="session")
def inline(shared_data: Path) -> Any:
    return loads((shared_data / "expected_inline.json").read_text(encoding="utf-8"))


def scores_of(truth: Any, run: Any, *measures: Measure, ties: str = "trec9") -> Any:
    judged = judge(truth, run, ties=ties)
    table = evaluate(judged, measures)
    return {
        query: [table.columns[str(measure)][row] for measure in measures]
        for row, query in enumerate(judged.query_ids)
    }


def test_values_of_pytrec_evals_own_tests(inline: Any) -> None:
    cases = [*inline["pytrec_eval_inline"], inline["pytrec_eval_readme"]]
    assert len(cases) == 4
    for case in cases:
        for query, expected in case["expect"].items():
            for name, value in expected.items():
                [requested] = values([name.replace("_cut_", "_cut.")])
                assert requested.measure is not None
                score = scores_of(case["qrels"], case["run"], requested.measure)[query][0]
                assert score == pytest.approx(value, abs=1e-12), (query, name)


def test_equal_scores_of_a_tie_report(inline: Any) -> None:
    case = inline["trec_eval_issue_22_ties"]
    for ties in ("trec9", "trec10"):
        for run in ("run1", "run2"):
            score = scores_of(case["qrels"], case[run], Measure("ndcg"), ties=ties)["1"][0]
            assert score == pytest.approx(case[f"expect_ndcg_{run}"], abs=0.00005)


def test_judged_shares_of_ir_measures(inline: Any) -> None:
    case = inline["ir_measures_judged"]
    for name, k in (("Judged@10", 10), ("Judged@3", 3), ("Judged@1", 1)):
        by_query = scores_of(case["qrels"], case["run"], Measure("judged", k))
        assert {query: scores[0] for query, scores in by_query.items()} == pytest.approx(case[name])
