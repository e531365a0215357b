"""Which labels count: those of people, those of language models, or both."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError
from karat.model import Dataset, Hit, Query, Target
from karat.model.judgments import (
    MIN_AGREEMENT,
    judgments_of,
    label_use,
    model_labels_of,
    with_label_use,
)
from karat.scoring.matching.modes import MATCHERS

if TYPE_CHECKING:
    from karat.scoring.matching.modes import Matcher
    from karat.scoring.stats.agreement import Agreement


class LabelChoice(StrEnum):
    """The labels that a score uses.

    EXCLUDE: the targets of the gold set alone. INCLUDE: the labels of models as well, where no
    target judges the same place. ONLY: the labels of models alone.
    """

    EXCLUDE = "exclude"
    INCLUDE = "include"
    ONLY = "only"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise InputError(f"{value!r} is not a choice of labels; expected {', '.join(cls)}")


class LabelRule(NamedTuple):
    """Which labels a score uses, and the agreement with people below which it warns."""

    choice: str = LabelChoice.EXCLUDE.value
    minimum: float = MIN_AGREEMENT


class LabelPair(NamedTuple):
    """A hit that a person and a model judged: the row of its query, and the two grades.

    *model* is the grade as the model gave it, see `comparable_grades`.
    """

    row: int
    label: Target
    people: float
    model: float


# What a model's grades from 0 to 3 (unrelated, only related, important part, exact) mean in a gold
# set with grades up to 1, and up to 2.
_TO_1 = (0.0, 0.0, 1.0, 1.0)
_TO_2 = (0.0, 0.0, 1.0, 2.0)


def scaled_grade(grade: float, top: float | None) -> float:
    """Return a model's *grade* on the scale of a gold set whose highest grade is *top*.

    It stays as it is above 2, and without a grade of people (None).

    >>> [scaled_grade(grade, 1) for grade in range(4)]
    [0.0, 0.0, 1.0, 1.0]
    >>> [scaled_grade(grade, 2) for grade in range(4)]
    [0.0, 0.0, 1.0, 2.0]
    >>> scaled_grade(1, 3), scaled_grade(2, None)
    (1, 2)
    """
    if top is None or top > 2:
        return grade
    return (_TO_1 if top <= 1 else _TO_2)[min(max(int(grade), 0), 3)]


def top_grade(data: Dataset) -> float | None:
    """Return the highest grade of the targets of *data*; without any, of people's judgments.

    None if people graded nothing.
    """
    grades = [grade for grade in data.grades if grade >= 0]
    if not grades:
        records = (record for query in data.queries() for record in judgments_of(query))
        grades = [record.target.grade for record in records if record.target.grade >= 0]
    return max(grades, default=None)


def use_labels(data: Dataset, rule: LabelRule) -> Dataset:
    """Return *data* with the labels that *rule* chooses, and in its metadata how well they agree.

    A dataset whose labels were chosen before stays as it is where the rule excludes labels.
    """
    choice = LabelChoice(rule.choice)
    if choice is LabelChoice.EXCLUDE:
        return data
    known = label_use(data)
    if known and known.is_used:
        if known.choice == choice:
            return with_label_use(data, replace(known, minimum=rule.minimum))
        raise InputError(
            f"{data.name}: these runs were made with --judge-labels {known.choice}, so "
            f"--judge-labels {choice} needs the file of the gold set before the runs"
        )
    if not known:
        raise _no_labels(data)
    queries = list(data.queries())
    voted = [voted_targets(query) for query in queries]
    chosen = _chosen(data, choice, queries, voted)
    pairs = _pairs(data, queries, voted)
    use = replace(known, choice=choice.value, pairs=len(pairs), minimum=rule.minimum)
    if pairs:
        agreement = agreement_of(pairs, top_grade(data))
        low, high = agreement.interval.low, agreement.interval.high
        use = replace(use, kappa=agreement.kappa, low=low, high=high)
    return with_label_use(chosen, use)


def label_pairs(data: Dataset, judge: str | None = None) -> list[LabelPair]:
    """Return the hits that a person and a model judged; the vote of the models without *judge*.

    If several targets of people judge a hit, the highest grade counts, as it does in a score.
    """
    queries = list(data.queries())
    return _pairs(data, queries, [voted_targets(query, judge) for query in queries])


def _pairs(
    data: Dataset, queries: Sequence[Query], voted: Sequence[tuple[Target, ...]]
) -> list[LabelPair]:
    matcher = MATCHERS.get(data.match)()
    pairs = []
    for row, (query, labels) in enumerate(zip(queries, voted, strict=True)):
        if not labels:
            continue
        people = _JudgedTargets(
            (*query.targets, *(record.target for record in judgments_of(query))), matcher
        )
        for label in labels:
            grades = [target.grade for target in people.judging_label(label)]
            if grades:
                pairs.append(LabelPair(row, label, max(grades), label.grade))
    return pairs


def agreement_of(
    pairs: Sequence[LabelPair],
    top: float | None = None,
    *,
    weights: str = "quadratic",
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> "Agreement":
    """Return the weighted kappa of *pairs*, at least one, with its interval over queries.

    The grades are those of `comparable_grades`.
    """
    from karat.scoring.stats.agreement import agreement

    people, model = comparable_grades(pairs, top)
    rows = [pair.row for pair in pairs]
    return agreement(
        people, model, clusters=rows, weights=weights, level=level, draws=draws, seed=seed
    )


def comparable_grades(
    pairs: Iterable[LabelPair], top: float | None = None
) -> tuple[list[float], list[float]]:
    """Return the grades of people, and those of the model on the scale of people.

    *top* is the highest grade of the gold set; without it, that of people in *pairs*.

    >>> place = Target("a.py")
    >>> comparable_grades([LabelPair(0, place, 1, 3), LabelPair(0, place, 0, 1)])
    ([1, 0], [1.0, 0.0])
    """
    people, model = [], []
    for pair in pairs:
        people.append(pair.people)
        model.append(pair.model)
    if top is None:
        top = max(people, default=None)
    return people, [scaled_grade(grade, top) for grade in model]


def choose_labels(data: Dataset, choice: LabelChoice | str) -> Dataset:
    """Return *data* with the targets that *choice* makes of its targets and its model labels.

    Grades of models are converted to the scale of the targets (`scaled_grade`). A set without any
    model label raises InputError, except where they are excluded.
    """
    choice = LabelChoice(choice)
    if choice is LabelChoice.EXCLUDE:
        return data
    queries = list(data.queries())
    return _chosen(data, choice, queries, [voted_targets(query) for query in queries])


def _chosen(
    data: Dataset,
    choice: LabelChoice,
    queries: Sequence[Query],
    voted: Sequence[tuple[Target, ...]],
) -> Dataset:
    """Return *data* with the targets that models *voted* on for each of its *queries*."""
    if not any(voted):
        raise _no_labels(data)
    top = top_grade(data)
    matcher = MATCHERS.get(data.match)()
    chosen = []
    for query, votes in zip(queries, voted, strict=True):
        targets = [Target(new[0], scaled_grade(new[1], top), *new[2:]) for new in votes]
        if choice is LabelChoice.INCLUDE:
            people = _JudgedTargets(query.targets, matcher)
            new = (target for target in targets if not people.judging_label(target))
            targets = [*query.targets, *new]
        chosen.append(query._replace(targets=tuple(targets)))
    return data.with_queries(chosen)


def _no_labels(data: Dataset) -> InputError:
    return InputError(
        f"{data.name}: the gold set has no model labels; karat judge --model adds them"
    )


# The fields of a target after its path and its grade.
_Part = tuple[int, int, str, str, tuple[str, ...]]


def voted_targets(query: Query, judge: str | None = None) -> tuple[Target, ...]:
    """Return one target for each place that models graded: the median of their grades.

    With *judge*, only the labels of that model count.

    Of an even number of judges the lower of the two middle grades counts: a doubtful hit is not
    relevant. If a model graded a place twice, its newest grade counts.
    """
    # A set may have hundreds of thousands of labels: Target._replace would take most of the time.
    grades: dict[tuple[str, _Part], dict[str, float]] = {}
    for target, name, *_ in model_labels_of(query):
        if judge in (None, name):
            grades.setdefault((target.path, target[2:]), {})[name] = target.grade
    return tuple(
        Target(path, sorted(by_judge.values())[(len(by_judge) - 1) // 2], *part)
        for (path, part), by_judge in grades.items()
    )


def is_judged(hit: Hit, targets: Iterable[Target], matcher: "Matcher") -> bool:
    """Return whether one of *targets* judges *hit*.

    A relevant target judges every hit that it matches. A target that is not relevant must contain
    all lines of the hit, because further lines were not judged. A grade below 0 means unjudged.
    """
    return bool(_JudgedTargets(targets, matcher).judging(hit))


class _JudgedTargets:
    """The judged *targets* of one query, looked up by path if the mode compares whole paths."""

    def __init__(self, targets: Iterable[Target], matcher: "Matcher") -> None:
        self._matcher = matcher
        self._by_path = matcher.by_id or matcher.name == "lines"
        self._targets: dict[str, list[Target]] = {}
        for target in targets:
            if target.grade >= 0:
                path = matcher.spelled(target.path)
                spelled = target._replace(path=path)
                self._targets.setdefault(path if self._by_path else "", []).append(spelled)

    def judging(self, hit: Hit) -> list[Target]:
        """Return the targets that judge *hit*."""
        return [
            target
            for target in self._targets.get(hit.path if self._by_path else "", ())
            if self._matcher.credit(hit, target)
            and (target.grade > 0 or self._matcher.name != "lines" or _holds(target, hit))
        ]

    def judging_label(self, label: Target) -> list[Target]:
        """Return the targets that judge the place of *label*."""
        path = self._matcher.spelled(label.path)
        if self._by_path and path not in self._targets:
            return []
        return self.judging(
            Hit(path, start_line=label.start_line, end_line=label.end_line, symbol=label.symbol)
        )


def _holds(target: Target, hit: Hit) -> bool:
    if not target.end_line:
        return True
    return target.start_line <= hit.start_line and 0 < hit.end_line <= target.end_line
