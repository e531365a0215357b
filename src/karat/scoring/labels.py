"""Which labels count: those of people, those of language models, or both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError
from karat.model import Dataset, Hit, Query, Target
from karat.model.judgments import (
    MIN_AGREEMENT,
    LabelUse,
    judgments_of,
    label_use,
    model_labels_of,
    with_label_use,
)
from karat.scoring.matching.modes import MATCHERS

if TYPE_CHECKING:
    from karat.scoring.matching.modes import Matcher
    from karat.scoring.stats.agreement import (
        Agreement,
        BinaryAgreement,
        ConfusionTable,
        OrderAgreement,
        SystemBias,
    )

__all__ = [
    "AgreementReport",
    "JudgeAgreement",
    "LabelChoice",
    "LabelPair",
    "LabelRule",
    "LabelsNeeded",
    "RunBias",
    "agreement_of",
    "choose_labels",
    "comparable_grades",
    "is_judged",
    "label_pairs",
    "scaled_grade",
    "top_grade",
    "use_labels",
    "voted_targets",
]


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
    place: Target
    people: float
    model: float


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of one model, or of the vote of all *judges*, with people."""

    name: str
    judges: tuple[str, ...]
    agreement: "Agreement"
    binary: "BinaryAgreement"
    table: "ConfusionTable"
    is_binary: bool


@dataclass(frozen=True, slots=True)
class RunBias:
    """The mean of one run by people's labels and by those of the models, and the bias for it."""

    run: str
    people: float | None
    model: float | None
    bias: "SystemBias"


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """How much is still to be judged, estimated from the present variance; None if unknown.

    *hits* more, judged by both, give kappa within *kappa_half_width*; *queries* more, judged by
    people, give every mean within *score_half_width*.
    """

    kappa_half_width: float
    hits: int | None
    score_half_width: float
    queries: int | None


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """What labels of models are worth; the last of *judges* is the one that scores would use.

    *order* and *runs* compare scores by *measure* on the hits that both judged. *top* is the
    highest grade of the gold set; grades of models are on its scale. *by_people* is False if the
    gold set has no judgment of a person, as if it was mined or generated.
    """

    gold: str
    pairs: int
    queries: int
    judges: tuple[JudgeAgreement, ...]
    measure: str
    order: "OrderAgreement"
    runs: tuple[RunBias, ...]
    needed: LabelsNeeded
    minimum: float = MIN_AGREEMENT
    top: float = 3.0
    by_people: bool = True

    @property
    def used(self) -> JudgeAgreement:
        """Return the agreement of the labels that scores would use."""
        return self.judges[-1]


# What a model's grades (3 exact, 2 important part, 1 only related, 0 unrelated) mean in a gold set,
# by its highest grade. In a set with higher grades than these they stay as they are.
_SCALES = ((1.0, (0.0, 0.0, 1.0, 1.0)), (2.0, (0.0, 0.0, 1.0, 2.0)))


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
    for highest, grades in _SCALES:
        if top is not None and top <= highest:
            return grades[min(max(int(grade), 0), 3)]
    return grade


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
    chosen = choose_labels(data, choice)
    labels = [label for query in data.queries() for label in model_labels_of(query)]
    judges = tuple(dict.fromkeys(label.judge for label in labels))
    pairs = label_pairs(data)
    use = LabelUse(choice.value, judges, len(labels), len(pairs), minimum=rule.minimum)
    if pairs:
        found = agreement_of(pairs, top_grade(data))
        low, high = found.interval.low, found.interval.high
        use = replace(use, kappa=found.kappa, low=low, high=high)
    return with_label_use(chosen, use)


def label_pairs(data: Dataset, judge: str | None = None) -> list[LabelPair]:
    """Return the hits that a person and a model judged; the vote of the models without *judge*.

    If several targets of people judge a hit, the highest grade counts, as it does in a score.
    """
    matcher = MATCHERS.get(data.match)()
    pairs = []
    for row, query in enumerate(data.queries()):
        people = (*query.targets, *(record.target for record in judgments_of(query)))
        for place in voted_targets(query, judge):
            grade = _grade_at(place, people, matcher)
            if grade is not None:
                pairs.append(LabelPair(row, place, grade, place.grade))
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
    top = top_grade(data)
    labels = [
        tuple(new._replace(grade=scaled_grade(new.grade, top)) for new in voted_targets(query))
        for query in queries
    ]
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


def voted_targets(query: Query, judge: str | None = None) -> tuple[Target, ...]:
    """Return one target for each place that models graded: the median of their grades.

    With *judge*, only the labels of that model count.

    Of an even number of judges the lower of the two middle grades counts: a doubtful hit is not
    relevant. If a model graded a place twice, its newest grade counts.
    """
    grades: dict[Target, dict[str, float]] = {}
    for label in model_labels_of(query):
        if judge not in (None, label.judge):
            continue
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
    return any(_judges(target, hit, matcher) for target in targets)


def _judges(target: Target, hit: Hit, matcher: "Matcher") -> bool:
    return bool(
        target.grade >= 0
        and matcher.credit(hit, target._replace(path=matcher.spelled(target.path)))
        and (target.grade > 0 or matcher.name != "lines" or _holds(target, hit))
    )


def _is_known(label: Target, query: Query, matcher: "Matcher") -> bool:
    return is_judged(_hit_at(label, matcher), query.targets, matcher)


def _grade_at(label: Target, targets: Iterable[Target], matcher: "Matcher") -> float | None:
    """Return the highest grade of the *targets* that judge the place of *label*, None without."""
    hit = _hit_at(label, matcher)
    grades = (target.grade for target in targets if _judges(target, hit, matcher))
    return max(grades, default=None)


def _hit_at(label: Target, matcher: "Matcher") -> Hit:
    path = matcher.spelled(label.path)
    return Hit(path, start_line=label.start_line, end_line=label.end_line, symbol=label.symbol)


def _holds(target: Target, hit: Hit) -> bool:
    if not target.end_line:
        return True
    return target.start_line <= hit.start_line and 0 < hit.end_line <= target.end_line
