"""Ranks by counting agree with sorting, under every tie policy."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError, UnknownName
from karat.model import JudgedQuery
from karat.scoring.matching import TIE_POLICIES
from karat.scoring.matching.documents import judge_ranking
from karat.scoring.matching.modes import as_float32, check_policy

# Few ids, so that judged and returned documents often meet.
IDS = st.sampled_from(["a", "ab", "ä", "€", "𝄞", "\uffff"])
SCORES = st.sampled_from([1.0, 2.0, 2.0 + 1e-12, 3.0])
GRADES = st.sampled_from([-1, 0, 1, 2, 0.5])
RANKINGS = st.dictionaries(IDS, SCORES, max_size=8)
JUDGMENTS = st.dictionaries(IDS, GRADES, max_size=6)


class Columns(Mapping[str, float]):
    """A ranking that decodes ids only when asked for, as a large file gives it."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores
        self.decoded: list[float] = []

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("every id is decoded")

    def __getitem__(self, document: str) -> float:
        return self.scores[document]

    def values(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":  # type: ignore[override]
        return np.array(list(self.scores.values()), np.float64)

    def ids_with_score(self, score: float, /) -> Sequence[str]:
        self.decoded.append(score)
        return [document for document, other in self.scores.items() if other == score]


def by_sorting(
    judgments: dict[str, float], scores: dict[str, float], ties: str
) -> list[tuple[int, float]]:
    """Return rank and grade of each judged document, by sorting the whole ranking."""
    rounded = as_float32 if ties == "trec9" else float
    order = list(scores)
    if ties in ("trec10", "trec9"):
        order.sort(reverse=True)
    elif ties in ("best", "worst"):
        # The higher grades first, or last; the unjudged at the other end.
        order.sort(key=lambda name: judgments.get(name, float("-inf")), reverse=ties == "best")
    order.sort(key=lambda document: rounded(scores[document]), reverse=True)
    return [
        (rank, judgments[document])
        for rank, document in enumerate(order, 1)
        if document in judgments
    ]


def placed(judged: JudgedQuery) -> list[tuple[int, float]]:
    return list(zip(judged.ranks, judged.grades, strict=True))


@pytest.mark.parametrize("ties", ["trec10", "trec9", "order", "best", "worst"])
@settings(max_examples=40)
@given(judgments=JUDGMENTS, scores=RANKINGS)
def test_counting_agrees_with_sorting(
    ties: str, judgments: dict[str, float], scores: dict[str, float]
) -> None:
    judged = judge_ranking(judgments, scores, ties=ties)
    assert placed(judged) == by_sorting(judgments, scores, ties)
    assert judged.retrieved == len(scores)
    assert list(judged.ideal) == sorted(judgments.values(), reverse=True)
    assert judged.spans is None


@pytest.mark.parametrize("ties", TIE_POLICIES)
@settings(max_examples=40)
@given(judgments=JUDGMENTS, scores=RANKINGS)
def test_columns_agree_with_a_mapping(
    ties: str, judgments: dict[str, float], scores: dict[str, float]
) -> None:
    columns = Columns(scores)
    one, other = (
        judge_ranking(judgments, columns, ties=ties),
        judge_ranking(judgments, scores, ties=ties),
    )
    assert placed(one) == placed(other)
    assert (one.spans, one.tied, one.retrieved) == (other.spans, other.tied, other.retrieved)


def test_columns_decode_no_document_without_a_tie() -> None:
    columns = Columns({"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0})
    assert judge_ranking({"a": 1, "d": 1}, columns).ranks == [1, 4]
    assert columns.decoded == []
    assert judge_ranking({"b": 1}, columns).ranks == [3]
    assert columns.decoded == [2.0]


@settings(max_examples=40)
@given(judgments=JUDGMENTS, scores=RANKINGS, data=st.data())
@pytest.mark.parametrize("ties", ["trec10", "trec9", "expected", "best", "worst"])
def test_the_order_of_the_input_changes_nothing(
    ties: str, judgments: dict[str, float], scores: dict[str, float], data: st.DataObject
) -> None:
    shuffled = dict(data.draw(st.permutations(list(scores.items()))))
    turned = dict(reversed(judgments.items()))
    one, other = (
        judge_ranking(judgments, scores, ties=ties),
        judge_ranking(turned, shuffled, ties=ties),
    )
    if ties == "expected":
        assert sorted(zip(one.spans or one.ranks, one.grades, strict=True)) == sorted(
            zip(other.spans or other.ranks, other.grades, strict=True)
        )
    else:
        assert placed(one) == placed(other)
    assert one.tied == other.tied


def gain(judged: JudgedQuery) -> float:
    return sum(max(grade, 0) / log2(rank + 1) for rank, grade in placed(judged))


def test_tied_says_whether_any_order_gains_more_than_another() -> None:
    """Every case of three documents: unjudged or of four grades, with one of two scores."""
    for grades in product([None, -1, 0, 1, 2], repeat=3):
        given_grades = zip("abc", grades, strict=True)
        judgments = {name: grade for name, grade in given_grades if grade is not None}
        for values in product([1.0, 2.0], repeat=3):
            scores = dict(zip("abc", values, strict=True))
            # The order policy ranks equal scores as they come, so that it can be given all orders.
            gains = [
                gain(judge_ranking(judgments, dict(order), ties="order"))
                for order in permutations(scores.items())
            ]
            matters = max(gains) - min(gains) > 1e-9
            for ties in TIE_POLICIES:
                assert judge_ranking(judgments, scores, ties=ties).tied == matters, (
                    judgments,
                    scores,
                )
            assert gain(judge_ranking(judgments, scores, ties="best")) == pytest.approx(max(gains))
            assert gain(judge_ranking(judgments, scores, ties="worst")) == pytest.approx(min(gains))


def test_spans_cover_the_ranks_of_the_tie() -> None:
    scores = {"a": 9.0, "b": 7.0, "c": 7.0, "d": 7.0, "e": 1.0}
    judged = judge_ranking({"c": 1, "e": 1}, scores, ties="expected")
    assert judged.spans == [(2, 4), (5, 5)]
    assert judged.tied


@settings(max_examples=40)
@given(judgments=JUDGMENTS, scores=RANKINGS)
@pytest.mark.parametrize("ties", TIE_POLICIES)
def test_judged_only_is_the_ranking_without_the_unjudged(
    ties: str, judgments: dict[str, float], scores: dict[str, float]
) -> None:
    known = {
        document: score for document, score in scores.items() if judgments.get(document, -1) >= 0
    }
    one = judge_ranking(judgments, scores, ties=ties, judged_only=True)
    other = judge_ranking(judgments, known, ties=ties)
    assert placed(one) == placed(other)
    assert (one.retrieved, one.spans, one.tied) == (len(known), other.spans, other.tied)


@settings(max_examples=40)
@given(judgments=JUDGMENTS, scores=RANKINGS, depth=st.integers(1, 9))
@pytest.mark.parametrize("ties", ["trec10", "trec9", "order", "best", "worst"])
def test_judged_only_drops_unjudged_documents_after_the_cut(
    ties: str, judgments: dict[str, float], scores: dict[str, float], depth: int
) -> None:
    thinned = judge_ranking(judgments, scores, ties=ties, judged_only=True, depth=depth)
    cut = judge_ranking(judgments, scores, ties=ties, depth=depth)
    assert thinned.grades == [grade for grade in cut.grades if grade >= 0]
    assert thinned.ranks == list(range(1, thinned.retrieved + 1))
    assert thinned.retrieved == len(thinned.grades)
    assert list(thinned.ideal) == list(cut.ideal)


@settings(max_examples=40)
@given(judgments=JUDGMENTS, scores=RANKINGS, depth=st.integers(1, 9))
@pytest.mark.parametrize("ties", ["trec10", "trec9", "order", "best", "worst"])
def test_depth_forgets_what_stands_below(
    ties: str, judgments: dict[str, float], scores: dict[str, float], depth: int
) -> None:
    cut = judge_ranking(judgments, scores, ties=ties, depth=depth)
    whole = judge_ranking(judgments, scores, ties=ties)
    assert placed(cut) == [index for index in placed(whole) if index[0] <= depth]
    assert cut.retrieved == min(depth, len(scores))
    assert list(cut.ideal) == list(whole.ideal)


def test_depth_cannot_cut_an_expected_tie() -> None:
    scores = {"a": 1.0, "b": 1.0}
    with pytest.raises(InputError, match="depth cannot cut through ties"):
        judge_ranking({"a": 1}, scores, ties="expected", depth=1)
    assert judge_ranking({"a": 1}, scores, ties="expected", depth=2).spans == [(1, 2)]


def test_ids_break_ties_downwards_and_float32_ties_more() -> None:
    scores = {"a": 1.0 + 1e-12, "b": 1.0}
    assert judge_ranking({"a": 1}, scores, ties="trec10").ranks == [1]
    assert judge_ranking({"a": 1}, scores, ties="trec9").ranks == [2]


def test_an_unknown_policy_is_refused() -> None:
    assert [check_policy(name) for name in TIE_POLICIES] == list(TIE_POLICIES)
    with pytest.raises(UnknownName, match="no tie policy named 'random'; known: trec10"):
        check_policy("random")
