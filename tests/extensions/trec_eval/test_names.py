"""What -m asks for, in trec_eval's grammar."""

import pytest

from karat.errors import InputError, UnknownName
from karat.extensions.trec_eval.names import MEASURES, NICKNAMES, values
from karat.scoring.metrics import METRICS
from tests.docs.pages import page


def test_every_measure_of_trec_eval_has_a_metric() -> None:
    for name, measure in MEASURES.items():
        assert measure.metric in METRICS or name in ("runid", "relstring")


def test_nicknames_name_measures() -> None:
    for names in NICKNAMES.values():
        assert set(names) <= set(MEASURES)


def test_trec_evals_names_are_known_to_karat_too() -> None:
    # trec_eval's rbp counts grades; Karat's own rbp does not, and keeps the name.
    for name, measure in MEASURES.items():
        if measure.metric and name != "rbp":
            assert METRICS.canonical(name) == measure.metric


@pytest.mark.parametrize(
    ("request_", "names", "measures"),
    [
        ("P.5,1", ["P_1", "P_5"], ["precision@1", "precision@5"]),
        ("ndcg_cut.23.4", ["ndcg_cut_23"], ["ndcg@23"]),
        ("iprec_at_recall..5,1", ["iprec_at_recall_0.50", "iprec_at_recall_1.00"], None),
        ("ndcg.1=3,2=9.5", ["ndcg_1=3,2=9.5"], ["ndcg(gain=1:3/2:9.5)"]),
        ("rbp.p=0.5,2=4", ["rbp_p=0.5,2=4"], ["rbp-graded(gain=2:4,p=0.5)"]),
        ("rbp_resid.p=.7,1=3", ["rbp_resid_p=.7,1=3"], ["rbp-residual(p=0.7)"]),
        ("ndcg.p=1", ["ndcg_p=1"], ["ndcg"]),
        ("set_F.2", ["set_F_2"], ["set-f(weight=2)"]),
        ("11pt_avg..2,.8", ["11pt_avg_.2,.8"], ["11pt-avg(points=0.2/0.8)"]),
        ("utility.1,2,3,4", ["utility_1,2,3,4"], None),
        ("map.7", ["map"], ["ap"]),
    ],
)
def test_parameters(request_: str, names: list[str], measures: list[str] | None) -> None:
    parsed = values([request_])
    assert [value.name for value in parsed] == names
    if measures is not None:
        assert [str(value.measure) for value in parsed] == measures


def test_each_measure_once_in_trec_evals_order_with_the_first_parameters() -> None:
    parsed = values(["recall.3", "P.2", "official", "P.9", "relstring.4", "recall"])
    names = [value.name for value in parsed]
    assert names[0] == "runid"
    assert names[-3:] == ["P_2", "relstring_4", "recall_3"]
    assert parsed[-2].length == 4
    assert parsed[-2].measure is None


def test_level_and_collection_go_to_the_metrics_that_know_them() -> None:
    parsed = values(["map", "ndcg", "utility"], level=2, collection=100)
    assert {str(value.measure) for value in parsed} == {
        "ap(level=2)",
        "ndcg",
        "utility(collection=100,level=2)",
    }


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("P.", "ends in a dot"),
        ("P.0", "1 or more"),
        ("P.5,5", "twice"),
        ("P.x", "'x' is not a number"),
        ("Rprec_mult.1,1", "twice"),
        ("utility.1,2", "expected 4 numbers"),
        ("ndcg.1", "expected grade=gain"),
        ("ndcg.=1", "expected grade=gain"),
        ("ndcg.1=2=3", "expected grade=gain"),
        ("ndcg.-1=2", "below 0"),
        ("prefs_simp", "computed from prefs, not from qrels"),
        ("map_avgjg", "computed from qrels_jg, not from qrels"),
    ],
)
def test_what_cannot_be_asked(request_: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        values([request_])


def test_an_unknown_measure_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match=r"no measure 'rprec'; did you mean 'Rprec'"):
        values(["rprec"])
    with pytest.raises(UnknownName, match=r"known: runid, "):
        values(["-----"])


def test_the_documentation_lists_every_measure() -> None:
    text = page("trec_eval").read_text(encoding="utf-8")
    block = text.partition("```text\n")[2].partition("```")[0]
    rows = [line.split() for line in block.splitlines()[1:]]
    listed = [(name.partition(".")[0], metric) for name, metric in rows]
    assert listed == [(name, measure.metric or "-") for name, measure in MEASURES.items()]
    assert all(f"`{name}`" in text for name in NICKNAMES)
