"""The metrics, explained."""

import pytest

from karat.app.metrics import Description, describe
from karat.errors import InputError, UnknownName
from karat.scoring.metrics import METRICS


def test_all_metrics_in_the_order_of_the_catalogue() -> None:
    assert [entry.name for entry in describe()] == list(METRICS)


@pytest.mark.parametrize("entry", describe(), ids=list(METRICS))
def test_each_has_a_sentence_a_formula_and_a_range(entry: Description) -> None:
    assert entry.definition.endswith(".")
    assert entry.formula
    assert entry.low < entry.high


def test_the_cut_off_is_in_the_usage() -> None:
    usages = [entry.usage for entry in describe(["precision", "ndcg", "bpref"])]
    assert usages == ["precision@k", "ndcg[@k]", "bpref"]


def test_a_metric_is_named_once_however_it_is_written() -> None:
    names = [entry.name for entry in describe(["P@5", "ndcg(gain=exp)@10", "map"])]
    assert names == ["precision", "ndcg", "ap"]


def test_an_unknown_one_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ndcg'"):
        describe(["ndgc"])


def test_a_cut_off_in_tokens_means_the_metric_that_has_one() -> None:
    (entry,) = describe(["recall@2000tok"])
    assert entry.name == "recall"
    assert "cut-off in tokens: recall@2000tok" in entry.details()
    assert [entry.name for entry in describe(["recall@k", "hit@5"])] == ["recall", "hit"]
    with pytest.raises(InputError, match="'recall@ten' is not a valid measure"):
        describe(["recall@ten"])
