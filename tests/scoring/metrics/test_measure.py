"""A measure is a small value that prints and parses back."""

import re
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError, UnknownName
from karat.scoring.metrics import METRICS, Measure, parse, parse_all
from karat.scoring.metrics.measure import uses_labels
from tests.metric_names import each_metric

pytest_generate_tests = each_metric(METRICS.core())


@st.composite
def any_measure(draw: st.DrawFn, name: str) -> Measure:
    """Draw a measure of a metric with any cut-off and parameters that it takes."""
    metric = METRICS.get(name)
    cuts = {
        "none": st.none(),
        "required": st.integers(1, 10**9 - 1),
        "optional": st.none() | st.integers(1, 10**9 - 1),
    }
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    texts = st.sampled_from(["exp", "1:3/2:9.5"])
    params: dict[str, float | str] = {
        param: draw(texts) if isinstance(default, str) else draw(numbers)
        for param, default in metric.params.items()
        if draw(st.booleans())
    }
    changed = {param: value for param, value in params.items() if value != metric.params[param]}
    return Measure(name, draw(cuts[metric.cut]), tuple(sorted(changed.items())))


@settings(max_examples=15)
@given(data=st.data())
def test_every_measure_prints_and_parses_back(name: str, data: st.DataObject) -> None:
    measure = data.draw(any_measure(name))
    assert parse(str(measure)) == measure
    assert parse(f"  {str(measure).upper()} ") == measure
    assert {measure: 1}[parse(str(measure))] == 1


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nDCG@10", "ndcg@10"),
        ("MRR", "mrr"),
        ("mrr@10", "mrr@10"),
        ("rr", "mrr"),
        ("recip_rank", "mrr"),
        ("success@5", "hit@5"),
        ("Success_5", "hit@5"),
        ("hit_rate@1", "hit@1"),
        ("map", "ap"),
        ("MAP@100", "ap@100"),
        ("map_cut_10", "ap@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("P_5", "precision@5"),
        ("p@5", "precision@5"),
        ("R@20", "recall@20"),
        ("recall_20", "recall@20"),
        ("Rprec", "r-precision"),
        ("set_F1", "set-f1"),
        ("P(rel=2)@5", "precision(level=2)@5"),
        ("P(Level=2.5)@5", "precision(level=2.5)@5"),
        ("precision ( level = 2 ) @5", "precision(level=2)@5"),
        ("P(level=0)@5", "precision@5"),
        ("ndcg()@5", "ndcg@5"),
        ("ndcg(gain=EXP)@5", "ndcg(gain=exp)@5"),
        ("rbp(level=1,p=0.5)", "rbp(level=1,p=0.5)"),
        ("rbp(p=0.81234567)@7", "rbp(p=0.81234567)@7"),
    ],
)
def test_spellings_and_their_canonical_name(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a valid measure"),
        ("ndcg@", "expected name, name@k or name(param=value)@k"),
        ("ndcg@-1", "is not a valid measure"),
        ("ndcg@ten", "is not a valid measure"),
        ("recall@2000words", "@2000tok for a cut-off in tokens"),
        (
            "token-recall@2000 tokens",
            "its cut-off counts tokens already; write token-recall@2000 or recall@2000tok",
        ),
        ("lines@2000tok", "the cut-off of lines does not count tokens; that of ndcg, dcg, mrr"),
        ("bpref@2000tok", "the cut-off of bpref does not count tokens"),
        ("ndcg@0tok", "'ndcg@0tok': the cut-off must be 1 or more"),
        ("ndcg@1.5", "is not a valid measure"),
        ("ndcg@" + "9" * 5000, "is not a valid measure"),
        ("ndcg@10@10", "is not a valid measure"),
        ("ndcg(gain=exp", "is not a valid measure"),
        ("ndcg@0", "'ndcg@0': the cut-off must be 1 or more"),
        ("precision", "precision needs a cut-off; write precision@10"),
        ("bpref@10", "bpref takes no cut-off; write bpref"),
        ("ndcg(level=2)@10", "ndcg has no parameter 'level'; known: gain"),
        ("judged(level=2)@10", "judged has no parameter 'level'; known: none"),
        ("mrr(level)@10", "'level' is not a parameter; expected name=value"),
        ("mrr(level=)@10", "'level=' is not a parameter; expected name=value"),
        ("mrr(level=high)@10", "level=high is not a finite number"),
        ("mrr(level=nan)@10", "level=nan is not a finite number"),
        ("mrr(level=inf)@10", "level=inf is not a finite number"),
    ],
)
def test_what_is_no_measure_says_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse(text)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("nDGC@10", "ndcg"),
        ("recal@5", "recall"),
        ("precison@5", "precision"),
        ("nDCG10", "ndcg@10"),
        ("hit-5", "hit@5"),
        ("hits5", "hit"),
    ],
)
def test_a_near_miss_is_answered_with_the_name_meant(text: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{near}'"):
        parse(text)


def test_a_level_given_for_all_is_a_default() -> None:
    assert str(parse("p@5", level=2)) == "precision(level=2)@5"
    assert str(parse("p(level=3)@5", level=2)) == "precision(level=3)@5"
    assert str(parse("p(level=0)@5", level=2)) == "precision@5"
    assert str(parse("ndcg@5", level=2)) == "ndcg@5"


def test_several_measures_are_separated_by_commas_and_kept_once() -> None:
    texts = ["ndcg@10, MRR,rbp(p=0.5,level=1)", "rr", "", "p@5,"]
    names = [str(measure) for measure in parse_all(texts)]
    assert names == ["ndcg@10", "mrr", "rbp(level=1,p=0.5)", "precision@5"]
    assert str(parse_all(["p@5"], level=1)[0]) == "precision(level=1)@5"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("ndcg@5,10,20", "'ndcg@5,10,20' is 3 measures; name each one: ndcg@5,ndcg@10,ndcg@20"),
        ("map, P_5, 10", "'map, P_5, 10' is 3 measures; name each one: map,P_5,P_10"),
        ("map,10", "no metric named '10'"),
        ("10,map", "no metric named '10'"),
    ],
)
def test_cut_offs_that_share_a_name_are_an_error(typed: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse_all([typed])


def test_a_metric_tells_what_it_is(name: str) -> None:
    metric = METRICS.get(name)
    assert metric.name == name
    assert metric.definition.endswith(".")
    assert metric.formula
    assert metric.low < metric.high
    assert METRICS.canonical(name) == name


def test_bounds_are_those_of_the_metric() -> None:
    assert parse("ndcg@10").bounds == (0.0, 1.0)
    assert parse("num-ret").bounds == (0.0, inf)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ndcg@10", True), ("tokens@5", False), ("Lines@10", False), ("token-recall@9", True)],
)
def test_sizes_of_hits_use_no_labels(text: str, *, expected: bool) -> None:
    assert uses_labels(text) is expected


def test_other_texts_are_taken_for_scores() -> None:
    assert uses_labels("change")


def test_what_is_not_a_metric_is_refused() -> None:
    with pytest.raises(InputError, match=r"3.14\d* is not a metric; decorate the function"):
        METRICS.get("math:pi")


def test_another_package_may_call_a_measure_by_its_own_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {"mine": {"gain to ten": "ndcg@10"}.get}
    monkeypatch.setattr("karat.scoring.metrics.measure.MEASURE_NAMES", names)
    measure = parse("gain to ten")
    assert (str(measure), measure.label) == ("ndcg@10", "gain to ten")
    with pytest.raises(InputError, match="'gain to five' is not a valid measure"):
        parse("gain to five")
