"""The values of the cases are what an independent implementation computes, and what Karat does."""

from itertools import combinations
from math import isnan
from pathlib import Path
from statistics import fmean

import pytest

import karat
from karat.errors import FormatError, InputError
from karat.extensions.conformance.case import ALL, Case, Expectation, worked_out
from karat.extensions.conformance.cases import CASES
from karat.extensions.conformance.export import export
from tests.extensions.conformance import reference

BY_NAME = {case.name: case for case in CASES}
ASKED = [(case, each) for case in CASES for each in case.expectations]
NAMES = [f"{case.name} {each.measure} {each.query}" for case, each in ASKED]


def usual(case: Case, expectation: Expectation) -> list[float | None]:
    return [each.value for each in expectation.readings if each.standing == "usual"]


def reading(case: str, measure: str, convention: str) -> float:
    (expectation, *_) = [each for each in BY_NAME[case].expectations if each.measure == measure]
    (value,) = [each.value for each in expectation.readings if each.convention == convention]
    assert value is not None
    return value


def by_definition(case: Case, measure: str, query: str) -> float:
    """Return a measure of one query of *case*, by the definitions of the reference."""
    grades = case.judgments[query]
    ranking = reference.ordered(case.run().get(query, []))
    name, _, cut = measure.partition("@")
    k = int(cut or 0)
    values = {
        "mrr": lambda: reference.reciprocal_rank(ranking, grades, k or None),
        "ndcg": lambda: reference.ndcg(ranking, grades, k),
        "precision": lambda: reference.precision(ranking, grades, k),
        "recall": lambda: reference.recall(ranking, grades, k),
        "ap": lambda: reference.average_precision(ranking, grades, k or None),
        "r-precision": lambda: reference.r_precision(ranking, grades),
        "bpref": lambda: reference.bpref(ranking, grades),
        "err": lambda: reference.err(ranking, grades, k, max(grades.values())),
    }
    return values[name]()


@pytest.mark.parametrize(
    ("case", "expectation"), [each for each in ASKED if each[0].name != "duplicates"]
)
def test_the_usual_value_is_that_of_the_definition(case: Case, expectation: Expectation) -> None:
    queries = [expectation.query]
    if expectation.query == ALL:
        queries = [query for query, own in case.judgments.items() if any(own.values())]
    value = fmean(by_definition(case, expectation.measure, query) for query in queries)
    assert usual(case, expectation)[0] == pytest.approx(value)


@pytest.mark.parametrize(("case", "expectation"), ASKED, ids=NAMES)
def test_karat_does_what_is_usual(case: Case, expectation: Expectation, tmp_path: Path) -> None:
    export(tmp_path)
    qrels, run = (tmp_path / "cases" / case.name / name for name in ("qrels.txt", "run.txt"))
    value: float | None
    try:
        found = karat.evaluate(qrels, run, [expectation.measure], confidence=None)
        scores = dict(found) if expectation.query == ALL else found.query(expectation.query)
        value = scores[expectation.measure]
    except FormatError:
        value = None
    assert value in [
        each if each is None else pytest.approx(each) for each in usual(case, expectation)
    ]


@pytest.mark.parametrize(("case", "expectation"), ASKED, ids=NAMES)
def test_conventions_can_be_told_apart(case: Case, expectation: Expectation) -> None:
    values = [each.value for each in expectation.readings]
    numbers = [each for each in values if each is not None and not isnan(each)]
    assert all(abs(one - other) > 2e-4 for one, other in combinations(numbers, 2))
    assert len(values) - len(numbers) <= 2
    names = [each.convention for each in expectation.readings]
    assert len(set(names)) == len(names)
    assert "usual" in {each.standing for each in expectation.readings}


def test_orders_of_ties() -> None:
    (hits,), grades = BY_NAME["ties"].run().values(), BY_NAME["ties"].judgments["1"]
    documents = [document for document, _ in hits]
    orders = {
        "as in the file": documents,
        "by id, ascending": sorted(documents),
        "in reverse order of the file": documents[::-1],
        "relevant last": sorted(documents, key=lambda document: document == "e"),
        "relevant first: equal scores for all are perfect": sorted(documents, key="e".__ne__),
    }
    for convention, order in orders.items():
        assert reading("ties", "mrr", convention) == reference.reciprocal_rank(order, grades)
        assert reading("ties", "ndcg@7", convention) == reference.ndcg(order, grades, 7)
    for measure, score in (
        ("mrr", lambda order: reference.reciprocal_rank(order, grades)),
        ("ndcg@7", lambda order: reference.ndcg(order, grades, 7)),
    ):
        mean = reference.over_all_orders(hits, score)
        assert reading("ties", measure, "the mean over all orders") == pytest.approx(mean)


def test_other_gains_and_ideals() -> None:
    gain, ideal = BY_NAME["gain"], BY_NAME["ideal"]
    grades, ranking = gain.judgments["1"], reference.ordered(gain.run()["1"])
    assert reading("gain", "ndcg@3", "2^grade - 1") == pytest.approx(
        reference.ndcg(ranking, grades, 3, gain=lambda grade: 2**grade - 1)
    )
    assert reading("gain", "ndcg@3", "1 for any grade") == pytest.approx(
        reference.ndcg(ranking, grades, 3, gain=lambda grade: float(grade > 0))
    )
    grades, ranking = ideal.judgments["1"], reference.ordered(ideal.run()["1"])
    assert reading("ideal", "ndcg@2", "all judgments, beyond the cut-off too") == pytest.approx(
        reference.ndcg(ranking, grades, 2, cut_ideal=False)
    )
    assert reading("ideal", "ndcg@2", "only what was returned") == pytest.approx(
        reference.ndcg(ranking, grades, 2, returned_only=True)
    )
    negative = BY_NAME["negative-grades"]
    grades, ranking = negative.judgments["1"], reference.ordered(negative.run()["1"])
    assert reading("negative-grades", "ndcg@2", "a loss, in the ideal list too") == pytest.approx(
        reference.ndcg(ranking, grades, 2, gain=float)
    )


def test_duplicates() -> None:
    grades = BY_NAME["duplicates"].judgments["1"]

    def gains(documents: str) -> list[float]:
        return [grades.get(document, 0) for document in documents]

    ideal = reference.dcg([2, 1, 1])
    # A dot takes a rank and gains nothing.
    for convention, documents in (
        ("the first one counts, the second is dropped", "abc"),
        ("the last score counts", "bac"),
        ("the second one takes a rank and gains nothing", "ab.c"),
        ("both gain: the score can exceed 1", "abac"),
    ):
        value = reference.dcg(gains(documents)) / ideal
        assert reading("duplicates", "ndcg@4", convention) == pytest.approx(value)
    both = reference.dcg(gains("abac")) / reference.dcg([2, 2, 1, 1])
    assert reading("duplicates", "ndcg@4", "both gain, in the ideal list too") == pytest.approx(
        both
    )


def test_highest_grades() -> None:
    case = BY_NAME["err"]
    for convention, highest in (("that of all judgments", 3), ("always 4, as gdeval", 4)):
        value = reference.err(["a"], case.judgments["1"], 1, highest)
        assert reading("err", "err@1", convention) == value


def test_workings_are_arithmetic_only() -> None:
    assert worked_out("2**3 - 1/log2(8)") == pytest.approx(8 - 1 / 3)
    with pytest.raises(InputError, match="is not arithmetic"):
        worked_out("[1]")
