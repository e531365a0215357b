"""Rules of a gate, as users write them."""

import pytest

from karat.app.gate import parse_rules
from karat.errors import InputError, UnknownName
from karat.scoring.metrics import parse


def test_a_parameter_of_a_measure_may_hold_an_equals_sign() -> None:
    rules = parse_rules(minimums=["precision(level=2)@5=0.25"])
    assert rules.minimums == {parse("precision(level=2)@5"): 0.25}


def test_the_level_is_that_of_the_judging() -> None:
    rules = parse_rules(minimums=["hit@5=0.7"], regressions=["mrr=0.1"], level=2)
    assert [*map(str, rules.minimums), *map(str, rules.regressions)] == [
        "hit(level=2)@5",
        "mrr(level=2)",
    ]


def test_one_number_is_for_all_measures_and_names_come_first() -> None:
    rules = parse_rules(regressions=["0.02", "ndcg@10=0.05"])
    assert rules.any_regression == 0.02
    assert rules.regressions == {parse("ndcg@10"): 0.05}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("p90=200ms", {90.0: 200.0}), ("P99.9=1.5s", {99.9: 1500.0}), ("p50=250us", {50.0: 0.25})],
)
def test_latencies_have_units(text: str, expected: dict[float, float]) -> None:
    assert parse_rules(latencies=[text]).latencies_ms == expected


@pytest.mark.parametrize("text", ["p90", "p90=200", "p101=1s", "90=1s", "p90=-1s", "p90=fast"])
def test_what_is_no_limit_of_a_latency_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="p90=200ms"):
        parse_rules(latencies=[text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hit@5", "expected a rule such as ndcg@10=0.6"),
        ("hit@5=high", "'high' is not a number"),
        ("hit@5=nan", "not a finite number"),
        ("lines@10=5", "lower lines@10 is better"),
        ("hit@5=2", "hit@5 ranges from 0 to 1, so 2"),
        ("ndcg@10=-0.1", "ndcg@10 ranges from 0 to 1, so -0.1"),
    ],
)
def test_what_is_no_minimum_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_rules(minimums=[text])


@pytest.mark.parametrize("text", ["-0.1", "1.1", "hit@5=-0.1", "hit@5=1.1", "num-ret=0.1", "much"])
def test_what_is_no_regression_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_rules(regressions=[text])


def test_a_wrong_measure_is_offered_the_right_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ndcg'"):
        parse_rules(minimums=["nDGC@10=0.6"])
