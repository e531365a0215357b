"""On random collections our metrics are trec_eval's, to nine decimals.

The ties of trec_eval 9, which pytrec_eval wraps: scores as float32, equal ones by id, descending.
"""

import random

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.matching import judge
from karat.metrics import evaluate, parse

CUTS = (1, 3, 5, 10, 100)
THEIRS = {
    "map": "ap",
    "recip_rank": "mrr",
    "Rprec": "r-precision",
    "bpref": "bpref",
    "ndcg": "ndcg",
    "set_P": "set-precision",
    "set_recall": "set-recall",
    "set_F": "set-f1",
    **{f"P_{k}": f"precision@{k}" for k in CUTS},
    **{f"recall_{k}": f"recall@{k}" for k in CUTS},
    **{f"success_{k}": f"hit@{k}" for k in CUTS},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTS},
    **{f"map_cut_{k}": f"ap@{k}" for k in CUTS},
}
ASKED = {
    *(name for name in THEIRS if not name[-1].isdigit()),
    *(
        f"{family}.{','.join(map(str, CUTS))}"
        for family in ("P", "recall", "success", "ndcg_cut", "map_cut")
    ),
}

Grades = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def agree(truth: Grades, run: Run, level: int) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(truth, ASKED, relevance_level=level)
    theirs = evaluator.evaluate(run)
    judged = judge(truth, run, ties="trec9")
    measures = {name: parse(ours, level=level) for name, ours in THEIRS.items()}
    table = evaluate(judged, list(measures.values()), score_unjudged=True)
    rows = {query: row for row, query in enumerate(judged.query_ids)}
    assert theirs
    for query, scores in theirs.items():
        for name, measure in measures.items():
            score = table.columns[str(measure)][rows[query]]
            assert score == pytest.approx(scores[name], abs=1e-9), (query, name)


def collection(seed: int, *, documents: int, tied: bool) -> tuple[Grades, Run]:
    """Return graded judgments of ten queries and a run that finds some of them."""
    chance = random.Random(seed)
    names = [f"d{number}é" if number % 7 == 0 else f"d{number}" for number in range(documents)]
    truth, run = {}, {}
    for query in range(10):
        judged = chance.sample(names, documents // 3)
        truth[f"q{query}"] = {name: chance.choice([-1, 0, 0, 1, 2, 3]) for name in judged}
        truth[f"q{query}"][judged[0]] = 3
        found = chance.sample(names, chance.randint(1, documents))
        digits = 1 if tied else 9
        run[f"q{query}"] = {name: round(chance.gauss(0, 1), digits) for name in found}
    return truth, run


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("tied", [False, True], ids=["few ties", "many ties"])
@pytest.mark.parametrize("documents", [6, 40, 700])
@pytest.mark.parametrize("seed", range(2))
def test_random_collections(seed: int, documents: int, tied: bool, level: int) -> None:
    agree(*collection(seed, documents=documents, tied=tied), level)


IDS = st.sampled_from(["a", "ab", "b", "é", "€", "𝄞", "z", "zz"])


@settings(max_examples=60)
@given(
    grades=st.dictionaries(IDS, st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=8),
    scores=st.dictionaries(
        IDS, st.sampled_from([1.0, 1.0 + 1e-12, 2.0, -3.5]), min_size=1, max_size=8
    ),
)
def test_small_and_awkward_queries(grades: dict[str, int], scores: dict[str, float]) -> None:
    # trec_eval reads past its table of grades where no grade reaches the level.
    agree({"q": grades | {"always": 2}}, {"q": scores}, 1)
