"""On random collections our metrics are trec_eval's, to nine decimals, whatever the options.

pytrec_eval wraps trec_eval 9: scores as float32, equal ones by id, descending. It has no ``-M``
and no other tie rule, so for these the ranking is sorted and cut here, by the definitions in
trec_eval's form_res_rels.c, and handed over with the scores n, n - 1, ... 1.
"""

import random
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.scoring.matching import judge
from karat.scoring.metrics import evaluate, parse

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


def ranked(scores: dict[str, float], ties: str, depth: int | None) -> dict[str, float]:
    """Return the ranking that trec_eval makes of *scores*, cut at *depth*, without ties."""
    order = list(scores)
    if ties != "order":
        order.sort(key=str.encode, reverse=True)
    as_compared = np.float32 if ties == "trec9" else float
    order.sort(key=lambda document: as_compared(scores[document]), reverse=True)
    order = order[:depth]
    return {document: float(len(order) - index) for index, document in enumerate(order)}


def agree(
    truth: Grades,
    run: Run,
    level: int,
    *,
    ties: str = "trec9",
    depth: int | None = None,
    judged_only: bool = False,
    match: str = "document",
) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(
        truth, ASKED, relevance_level=level, judged_docs_only_flag=judged_only
    )
    as_read = ties == "trec9" and depth is None
    theirs = evaluator.evaluate(
        run if as_read else {query: ranked(run[query], ties, depth) for query in run}
    )
    judged = judge(truth, run, match=match, ties=ties, depth=depth, judged_only=judged_only)
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
        returned = chance.sample(names, chance.randint(1, documents))
        digits = 1 if tied else 9
        run[f"q{query}"] = {name: round(chance.gauss(0, 1), digits) for name in returned}
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


# Every pair of options meets many times; ids that differ after normalisation are for `document`.
@settings(max_examples=300)
@given(
    grades=st.dictionaries(IDS, st.sampled_from([-2, -1, 0, 1, 2]), max_size=8),
    scores=st.dictionaries(
        IDS, st.sampled_from([1.0, 1.0 + 1e-12, 2.0, -3.5]), min_size=1, max_size=8
    ),
    level=st.sampled_from([1, 2]),
    ties=st.sampled_from(["trec10", "trec9", "order"]),
    depth=st.sampled_from([None, 1, 2, 3, 5, 100]),
    judged_only=st.booleans(),
    match=st.sampled_from(["document", "exact"]),
)
def test_options_together(
    grades: dict[str, int], scores: dict[str, float], level: int, **options: Any
) -> None:
    agree({"q": grades | {"always": 2}}, {"q": scores}, level, **options)


@pytest.mark.parametrize("match", ["document", "exact"])
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("depth", [None, 7])
@pytest.mark.parametrize("ties", ["trec10", "trec9", "order"])
def test_options_together_on_long_rankings(
    ties: str, depth: int | None, judged_only: bool, match: str
) -> None:
    how: dict[str, Any] = {"ties": ties, "depth": depth, "judged_only": judged_only}
    for level, tied in ((1, True), (2, True), (1, False)):
        agree(*collection(5, documents=400, tied=tied), level, match=match, **how)
