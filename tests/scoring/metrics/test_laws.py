"""Every registered metric stays in its range and keeps the laws that it declares, and no others.

The laws are those that Metric's docstring states. Each is tried on every ranking of up to three
hits of six kinds, on some longer ones drawn with a fixed seed, and on those that hypothesis draws;
a metric that does not declare a law must break it on one of the first two.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import isnan
from random import Random
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from karat.model import JudgedQuery, Sizes
from karat.model.judged import Subtopics
from karat.scoring.metrics import METRICS, Measure
from tests.metric_names import each_metric

pytest_generate_tests = each_metric(METRICS.core())
TOLERANCE = 1e-12


class Kind(NamedTuple):
    """A hit: its grade, None where it is unjudged, and how much there is to read.

    A hit may hold a relevant line and still be irrelevant, where a minimum overlap is asked for.
    """

    grade: float | None
    lines: int
    relevant_lines: int
    tokens: int


UNJUDGED = Kind(None, 4, 0, 3)
KINDS = (
    UNJUDGED,
    Kind(-1, 3, 0, 2),
    Kind(0, 5, 1, 2),
    Kind(0.5, 2, 1, 1),
    Kind(1, 6, 3, 5),
    Kind(2, 2, 2, 9),
)
# The lowest grade covers most subtopics; another one is in a target that is never found.
SUBTOPICS = {0.5: (0, 1), 1: (0,), 2: (1,)}
MISSED: tuple[tuple[float, ...], ...] = ((), (2.0, 0.0))
HITS = st.lists(st.sampled_from(KINDS), max_size=9)
UNFOUND = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]), max_size=4)

Hits = tuple[Kind, ...]
Missed = tuple[float, ...]
Score = Callable[[Hits, Missed], float]


@lru_cache(maxsize=20_000)
def judged(hits: Hits, missed: Missed) -> JudgedQuery:
    """Return the hits, which share no line, as a judged query."""
    known = [(rank, hit.grade) for rank, hit in enumerate(hits, 1) if hit.grade is not None]
    return JudgedQuery(
        [rank for rank, _ in known],
        [grade for _, grade in known],
        ideal=sorted([*(grade for _, grade in known), *missed], reverse=True),
        retrieved=len(hits),
        sizes=Sizes(
            lines=[hit.lines for hit in hits],
            new_lines=[hit.lines for hit in hits],
            found_lines=[hit.relevant_lines for hit in hits],
            tokens=[hit.tokens for hit in hits],
            target_lines=sum(hit.relevant_lines for hit in hits) + len(missed),
        ),
        subtopics=Subtopics(
            {rank: SUBTOPICS[grade] for rank, grade in known if grade > 0},
            [(2,), *(SUBTOPICS[grade] for _, grade in known if grade > 0)],
            3,
        ),
    )


def measures(name: str) -> list[Measure]:
    """Return the metric called *name* with every kind of cut-off that it takes."""
    cuts: dict[str, list[int | None]] = {
        "none": [None],
        "required": [1, 2, 10],
        "optional": [None, 1, 2, 10],
    }
    return [Measure(name, k) for k in cuts[METRICS.get(name).cut]]


def scores(name: str) -> Iterator[Score]:
    """Return each measure of a metric as a function of hits, where more is always better."""
    for measure in measures(name):
        function = measure.bind()
        sign = 1.0 if measure.definition.higher_is_better else -1.0

        def score(
            hits: Hits,
            missed: Missed,
            function: Callable[[JudgedQuery], float] = function,
            sign: float = sign,
        ) -> float:
            return sign * function(judged(hits, missed))

        yield score


def height(hit: Kind) -> float:
    return hit.grade or 0.0


def beaten_ideal(score: Score, hits: Hits, missed: Missed) -> bool:
    best = tuple(sorted(hits, key=height, reverse=True))
    return score(hits, missed) > score(best, missed) + TOLERANCE


def changed_by_padding(score: Score, hits: Hits, missed: Missed) -> bool:
    before, after = score(hits, missed), score((*hits, UNJUDGED), missed)
    if isnan(before) or isnan(after):
        return isnan(before) != isnan(after)
    return abs(before - after) > TOLERANCE


def lowered_by_promotion(score: Score, hits: Hits, missed: Missed) -> bool:
    for index in range(len(hits) - 1):
        upper, lower = hits[index : index + 2]
        if height(lower) > height(upper):
            promoted = (*hits[:index], lower, upper, *hits[index + 2 :])
            if score(promoted, missed) < score(hits, missed) - TOLERANCE:
                return True
    return False


def something_from_nothing(score: Score, hits: Hits, missed: Missed) -> bool:
    return all(height(hit) <= 0 for hit in hits) and score(hits, missed) != 0


BREAKS: dict[str, Callable[[Score, Hits, Missed], bool]] = {
    "ideal": beaten_ideal,
    "padding": changed_by_padding,
    "promotion": lowered_by_promotion,
    "zero": something_from_nothing,
}


SMALL = list(product([hits for size in range(4) for hits in product(KINDS, repeat=size)], MISSED))
CHANCE = Random(7)
LONGER: list[tuple[Hits, Missed]] = [
    (tuple(CHANCE.choices(KINDS, k=CHANCE.randint(4, 8))), ()) for _ in range(200)
]


def is_broken(law: str, name: str, cases: Sequence[tuple[Hits, Missed]]) -> bool:
    return any(BREAKS[law](score, hits, missed) for score in scores(name) for hits, missed in cases)


def check_laws(name: str, undecided: Collection[str] = ()) -> None:
    """Fail if a metric breaks a law that it declares, or keeps another that is not *undecided*."""
    declared = METRICS.get(name).laws
    assert [law for law in declared if is_broken(law, name, SMALL)] == []
    others = set(BREAKS) - declared - set(undecided)
    assert [law for law in others if not is_broken(law, name, SMALL + LONGER)] == []


def test_a_metric_keeps_the_laws_that_it_declares_and_breaks_the_others(name: str) -> None:
    check_laws(name)


@settings(max_examples=15)
@given(hits=HITS, missed=UNFOUND)
def test_longer_rankings_keep_range_and_laws(
    name: str, hits: list[Kind], missed: list[float]
) -> None:
    metric = METRICS.get(name)
    for measure in measures(name):
        value = measure.bind()(judged(tuple(hits), tuple(missed)))
        assert isnan(value) or metric.low <= value <= metric.high, str(measure)
    for law in metric.laws:
        assert not is_broken(law, name, [(tuple(hits), tuple(missed))]), law


def test_laws_have_a_check(name: str) -> None:
    assert METRICS.get(name).laws <= set(BREAKS)
