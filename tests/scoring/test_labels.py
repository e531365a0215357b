"""Labels of models: kept beside the targets, voted on, and used only when chosen."""

import pytest

from karat.errors import InputError
from karat.model import Dataset, Query, Target
from karat.model.judgments import (
    JudgmentRecord,
    judgments_of,
    model_labels_of,
    with_judgments,
    with_model_labels,
)
from karat.scoring.labels import LabelChoice, choose_labels, voted_targets

NOON = "2026-01-01T12:00:00Z"


def label(
    path: str, grade: float, judge: str = "m1", *, lines: tuple[int, int] = (0, 0)
) -> JudgmentRecord:
    return JudgmentRecord(Target(path, grade, *lines), judge, NOON, "why", "abc")


def dataset(query: Query, match: str = "exact") -> Dataset:
    return Dataset.of([query], name="gold", match=match)


def grades(data: Dataset) -> list[tuple[str, float]]:
    return [(target.path, target.grade) for target in data.targets(0)]


def test_labels_of_models_and_judgments_of_people_do_not_mix() -> None:
    person = JudgmentRecord(Target("a.py", 2), "ann", NOON)
    query = with_judgments(Query("q", "who", (Target("a.py", 2),)), [person])
    both = with_model_labels(query, [label("b.py", 3)])
    assert judgments_of(both) == (person,)
    assert model_labels_of(both) == (label("b.py", 3),)
    assert both.targets == query.targets
    assert with_model_labels(both, []) == query
    assert model_labels_of(both)[0].prompt == "abc"


def test_a_list_that_karat_did_not_write_is_refused() -> None:
    query = Query("q", "who", extra={"model_labels": [{"grade": 1}]})
    with pytest.raises(InputError, match="'q': 'model_labels' is not a list of judgments"):
        model_labels_of(query)


@pytest.mark.parametrize(
    ("given", "voted"),
    [((3,), 3), ((0, 3), 0), ((1, 2, 3), 2), ((0, 0, 3, 3), 0), ((3, 3, 3, 0), 3)],
)
def test_judges_vote_by_the_lower_median(given: tuple[int, ...], voted: int) -> None:
    labels = [label("a.py", grade, f"m{number}") for number, grade in enumerate(given)]
    assert voted_targets(with_model_labels(Query("q", "who"), labels)) == (Target("a.py", voted),)


def test_the_newest_grade_of_a_judge_counts() -> None:
    query = with_model_labels(Query("q", "who"), [label("a.py", 0), label("a.py", 2)])
    assert voted_targets(query) == (Target("a.py", 2),)


def test_models_count_only_when_chosen_and_never_against_a_person() -> None:
    query = Query("q", "who", (Target("a.py", 2), Target("b.py", 0)))
    data = dataset(with_model_labels(query, [label(f"{name}.py", 3) for name in "abc"]))
    assert choose_labels(data, LabelChoice.EXCLUDE) == data
    assert grades(choose_labels(data, "include")) == [("a.py", 2), ("b.py", 0), ("c.py", 3)]
    assert grades(choose_labels(data, "only")) == [("a.py", 3), ("b.py", 3), ("c.py", 3)]


def test_lines_beside_those_that_a_person_refused_are_open_to_models() -> None:
    query = Query("q", "who", (Target("a.py", 0, 1, 9), Target("a.py", 2, 20, 29)))
    labels = [label("a.py", 3, lines=place) for place in ((2, 8), (5, 12), (25, 40))]
    data = dataset(with_model_labels(query, labels), "lines")
    added = choose_labels(data, "include").targets(0)[2:]
    assert [(target.start_line, target.end_line) for target in added] == [(5, 12)]


def test_a_set_without_labels_of_models_is_refused() -> None:
    data = dataset(Query("q", "who", (Target("a.py"),)))
    assert choose_labels(data, "exclude") is data
    for choice in ("include", "only"):
        with pytest.raises(InputError, match="gold: the gold set has no model labels; karat judge"):
            choose_labels(data, choice)
