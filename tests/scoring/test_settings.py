"""Settings that scoring and comparing share."""

import pytest

from karat.errors import InputError, UnknownName
from karat.model import Dataset, Query, Target
from karat.scoring.settings import DEFAULT_MEASURES, LINE_MEASURES, Confidence, Scoring

LINES = Dataset.of([Query("q", "", (Target("a.py", 1.0, 1, 9),))], match="lines")


def test_sizes_join_the_defaults_where_lines_are_matched() -> None:
    assert tuple(map(str, Scoring().parsed({"q": {"a": 1}}))) == DEFAULT_MEASURES
    assert tuple(map(str, Scoring().parsed(LINES))) == DEFAULT_MEASURES + LINE_MEASURES
    assert tuple(map(str, Scoring(match="exact").parsed(LINES))) == DEFAULT_MEASURES
    files = Dataset.of(list(LINES.queries()), match="exact")
    asked = Scoring(match="lines").parsed(files)
    assert tuple(map(str, asked)) == DEFAULT_MEASURES + LINE_MEASURES


def test_what_was_asked_for_is_all_there_is() -> None:
    assert [str(measure) for measure in Scoring(("MRR,p@5", "success@3")).parsed(LINES)] == [
        *("mrr", "precision@5", "hit@3"),
    ]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName):
        Scoring(ties="coin")
    # A file of scores has measures of its own, so that only a gold set says which ones are known.
    with pytest.raises(UnknownName, match="did you mean 'ndcg'"):
        Scoring(("ndgc@10",)).parsed(LINES)


@pytest.mark.parametrize("level", [float("nan"), float("inf")])
def test_a_level_is_a_grade(level: float) -> None:
    with pytest.raises(InputError, match="is not a valid grade"):
        Scoring(level=level)


@pytest.mark.parametrize("measures", [("",), (" , ",)])
def test_an_empty_measure_is_none(measures: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="empty measure"):
        Scoring(measures)


def test_a_seed_is_not_negative() -> None:
    with pytest.raises(InputError, match="seed -1 is negative"):
        Confidence(seed=-1)
