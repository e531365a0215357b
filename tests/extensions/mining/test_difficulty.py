import itertools

import pytest

from karat.extensions.mining.cases import (
    Category,
    Complexity,
    Difficulty,
    DifficultyFacts,
    category,
    complexity,
    difficulty,
)
from karat.extensions.mining.words import Leak


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (0, Complexity.LOW),
        (1, Complexity.LOW),
        (2, Complexity.MEDIUM),
        (20, Complexity.MEDIUM),
        (21, Complexity.HIGH),
    ],
)
def test_complexity_counts_files(files: int, expected: Complexity) -> None:
    assert complexity(files) is expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (DifficultyFacts(Leak.PATH, has_identifier=True, targets=1), Difficulty.EASY),
        (DifficultyFacts(Leak.STEM, has_identifier=True, targets=3), Difficulty.EASY),
        (DifficultyFacts(Leak.STEM, has_identifier=False, targets=1), Difficulty.MEDIUM),
        (
            DifficultyFacts(Leak.NONE, has_identifier=True, targets=1, candidates=2600),
            Difficulty.MEDIUM,
        ),
        (DifficultyFacts(Leak.PART, has_identifier=False, targets=1), Difficulty.HARD),
    ],
)
def test_difficulty_by_hand(facts: DifficultyFacts, expected: Difficulty) -> None:
    assert difficulty(facts) is expected


def test_giving_away_more_never_makes_it_harder() -> None:
    order = list(Difficulty)
    for named, targets, candidates in itertools.product((True, False), (1, 3), (0, 5000)):
        ranks = [
            order.index(difficulty(DifficultyFacts(step, named, targets, candidates)))
            for step in Leak
        ]
        assert ranks == sorted(ranks, reverse=True)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("crash when the body is empty", Category.ERROR),
        ("add a timeout option to the client", Category.API),
        ("register a middleware twice", Category.PATTERN),
        ("let url_for keep the fragment", Category.FUNCTION),
        ("keep the session of anonymous visitors", Category.CONCEPT),
    ],
)
def test_categories(query: str, expected: Category) -> None:
    assert category(query) is expected
