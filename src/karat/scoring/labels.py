"""Which labels count: those of people, those of language models, or both."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

from karat.errors import InputError
from karat.model import Dataset, Hit, Query, Target
from karat.model.judgments import model_labels_of
from karat.scoring.matching.modes import MATCHERS

if TYPE_CHECKING:
    from karat.scoring.matching.modes import Matcher

__all__ = ["LabelChoice", "choose_labels", "is_judged", "voted_targets"]


class LabelChoice(StrEnum):
    """The labels that a score uses.

    EXCLUDE: the targets of the gold set alone. INCLUDE: the labels of models as well, where no
    target judges the same place. ONLY: the labels of models alone.
    """

    EXCLUDE = "exclude"
    INCLUDE = "include"
    ONLY = "only"


def choose_labels(data: Dataset, choice: LabelChoice | str) -> Dataset:
    """Return *data* with the targets that *choice* makes of its targets and its model labels.

    A set without any model label raises InputError, except where they are excluded.
    """
    choice = LabelChoice(choice)
    if choice is LabelChoice.EXCLUDE:
        return data
    queries = list(data.queries())
    labels = [voted_targets(query) for query in queries]
    if not any(labels):
        raise InputError(
            f"{data.name}: the gold set has no model labels; karat judge --model adds them"
        )
    if choice is LabelChoice.INCLUDE:
        matcher = MATCHERS.get(data.match)()
        labels = [
            (*query.targets, *(new for new in voted if not _is_known(new, query, matcher)))
            for query, voted in zip(queries, labels, strict=True)
        ]
    return data.with_queries(
        [query._replace(targets=targets) for query, targets in zip(queries, labels, strict=True)]
    )


def voted_targets(query: Query) -> tuple[Target, ...]:
    """Return one target for each place that models graded: the median of their grades.

    Of an even number of judges the lower of the two middle grades counts: a doubtful hit is not
    relevant. If a model graded a place twice, its newest grade counts.
    """
    grades: dict[Target, dict[str, float]] = {}
    for label in model_labels_of(query):
        place = label.target._replace(grade=0.0)
        grades.setdefault(place, {})[label.judge] = label.target.grade
    return tuple(
        place._replace(grade=sorted(by_judge.values())[(len(by_judge) - 1) // 2])
        for place, by_judge in grades.items()
    )


def is_judged(hit: Hit, targets: Iterable[Target], matcher: "Matcher") -> bool:
    """Return whether one of *targets* judges *hit*.

    A relevant target judges every hit that it matches. A target that is not relevant must contain
    all lines of the hit, because further lines were not judged. A grade below 0 means unjudged.
    """
    return any(
        target.grade >= 0
        and matcher.credit(hit, target._replace(path=matcher.spelled(target.path)))
        and (target.grade > 0 or matcher.name != "lines" or _holds(target, hit))
        for target in targets
    )


def _is_known(label: Target, query: Query, matcher: "Matcher") -> bool:
    path = matcher.spelled(label.path)
    place = Hit(path, start_line=label.start_line, end_line=label.end_line, symbol=label.symbol)
    return is_judged(place, query.targets, matcher)


def _holds(target: Target, hit: Hit) -> bool:
    if not target.end_line:
        return True
    return target.start_line <= hit.start_line and 0 < hit.end_line <= target.end_line
