"""karat judge --agreement: how well labels of models agree with those of people, and the effect.

The effect is on the order of the runs, on the score of each run, and on what is still to judge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from karat.errors import InputError
from karat.model import Dataset, Run, Target
from karat.model.comparison import Interval
from karat.model.judgments import (
    FEWEST_PAIRS,
    MIN_AGREEMENT,
    judgments_of,
    label_use,
    with_judgments,
    with_model_labels,
)
from karat.scoring.labels import (
    LabelPair,
    agreement_of,
    comparable_grades,
    label_pairs,
    scaled_grade,
    top_grade,
)
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Confidence, Scoring
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.extensions.judges.stats.grades import BinaryAgreement, ConfusionTable
    from karat.extensions.judges.stats.orders import OrderAgreement, SystemBias
    from karat.scoring.stats.agreement import Agreement

# Hits of one query say nothing about a judge.
FEWEST_QUERIES = 2
GRADES = (0.0, 1.0, 2.0, 3.0)
# The precision for which the missing labels are estimated.
KAPPA_HALF_WIDTH = 0.05
SCORE_HALF_WIDTH = 0.02
MEASURE = "ndcg@10"


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
    """The agreement of model labels with people; the last of *judges* is the one that scores use.

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


def compare_judges(
    data: Dataset,
    runs: Mapping[str, Run],
    *,
    measure: str = MEASURE,
    minimum: float = MIN_AGREEMENT,
    confidence: Confidence | None = None,
) -> AgreementReport:
    """Return how well the labels of models in *data* agree with the labels of people.

    Fewer than ten hits that both judged, or hits of one query only, raise InputError.
    """
    confidence = confidence or Confidence()
    use = label_use(data)
    pairs = label_pairs(data)
    rows = sorted({pair.row for pair in pairs})
    top = top_grade(data)
    if use is None or top is None or len(pairs) < FEWEST_PAIRS or len(rows) < FEWEST_QUERIES:
        raise _too_few(data, len(pairs), len(rows))
    by_judge = {judge: label_pairs(data, judge) for judge in use.judges}
    judges = [
        _judge(judge, (judge,), own, top, confidence) for judge, own in by_judge.items() if own
    ]
    if len(use.judges) > 1:
        name = f"vote of {len(use.judges)} models"
        judges.append(_judge(name, use.judges, pairs, top, confidence))
    order, biases, widest = _effects(_common(data, pairs, top), runs, measure, confidence)
    return AgreementReport(
        data.name,
        len(pairs),
        len(rows),
        tuple(judges),
        measure,
        order,
        biases,
        _needed(judges[-1], widest, order.queries),
        minimum,
        top,
        any(judgments_of(query) for query in data.queries()),
    )


class _Sure(TypedDict):
    level: float
    draws: int
    seed: int


def _sure(confidence: Confidence) -> _Sure:
    return {"level": confidence.level, "draws": confidence.draws, "seed": confidence.seed}


def _too_few(data: Dataset, pairs: int, queries: int) -> InputError:
    labelled = f"{counted(pairs, 'hit')} of {counted(queries, 'query')}"
    return InputError(
        f"{data.name}: {labelled if pairs else 'no hit'} has labels of both a person and a model; "
        f"expected at least {FEWEST_PAIRS} hits of {FEWEST_QUERIES} queries. karat judge GOLD RUN "
        "--model SPEC --judged lets a model label hits that people judged"
    )


def _judge(
    name: str,
    judges: tuple[str, ...],
    pairs: Sequence[LabelPair],
    top: float,
    confidence: Confidence,
) -> JudgeAgreement:
    """Return the agreement on *pairs*, at least one, on the scale of a set with grades to *top*."""
    from karat.extensions.judges.stats.grades import binary_agreement, confusion_table

    people, model = comparable_grades(pairs, top)
    clusters = [pair.row for pair in pairs]
    sure = _sure(confidence)
    return JudgeAgreement(
        name,
        judges,
        agreement_of(pairs, top, **sure),
        binary_agreement(people, model, clusters=clusters, **sure),
        confusion_table(
            people,
            model,
            clusters=clusters,
            grades=sorted({scaled_grade(grade, top) for grade in GRADES}),
            **sure,
        ),
        top <= 1,
    )


def _effects(
    golds: tuple[Dataset, Dataset],
    runs: Mapping[str, Run],
    measure: str,
    confidence: Confidence,
) -> "tuple[OrderAgreement, tuple[RunBias, ...], Interval]":
    """Return the agreement of the two orders, the bias of each run, and the widest interval.

    *golds* have the labels of people and of the models.
    """
    import numpy as np

    from karat.extensions.judges.stats.orders import order_agreement, system_bias
    from karat.scoring.stats import bootstrap_intervals

    sure = _sure(confidence)
    by_people, by_model = (
        np.array([_scores(gold, name, run, measure) for name, run in runs.items()]).T
        for gold in golds
    )
    order = order_agreement(by_people, by_model, **sure)
    estimates = system_bias(by_people, by_model, **sure)
    known = ~(np.isnan(by_people) | np.isnan(by_model)).any(axis=1)
    spans = bootstrap_intervals(by_people[known], bounds=(0.0, 1.0), **sure)
    biases = tuple(
        RunBias(name, *_means(by_people[known, column], by_model[known, column]), bias)
        for column, (name, bias) in enumerate(zip(runs, estimates, strict=True))
    )
    return order, biases, max(spans, key=_width)


def _common(data: Dataset, pairs: Sequence[LabelPair], top: float) -> tuple[Dataset, Dataset]:
    """Return the hits that both judged, with people's grades and with those of the models."""
    people, model = comparable_grades(pairs, top)
    queries = list(data.queries())
    rows = sorted({pair.row for pair in pairs})
    made = []
    for grades in (people, model):
        targets: dict[int, list[Target]] = {row: [] for row in rows}
        for pair, grade in zip(pairs, grades, strict=True):
            targets[pair.row].append(pair.label._replace(grade=grade))
        bare = (with_judgments(with_model_labels(queries[row], ()), ()) for row in rows)
        made.append(
            data.with_queries(
                [
                    query._replace(targets=tuple(targets[row]))
                    for query, row in zip(bare, rows, strict=True)
                ]
            )
        )
    return made[0], made[1]


def _scores(gold: Dataset, name: str, run: Run, measure: str) -> list[float]:
    evaluation = evaluate_run(
        gold, run, scoring=Scoring((measure,)), confidence=None, slices={}, name=name
    )
    return list(evaluation.table.columns[evaluation.canonical(measure)])


def _means(*columns: Sequence[float]) -> tuple[float | None, float | None]:
    people, model = (
        float(sum(column) / len(column)) if len(column) else None for column in columns
    )
    return people, model


def _width(interval: Interval) -> float:
    if interval.low is None or interval.high is None:
        return 0.0
    return interval.high - interval.low


def _needed(judge: JudgeAgreement, widest: Interval, queries: int) -> LabelsNeeded:
    from karat.extensions.judges.stats.grades import further_units

    agreement = judge.agreement
    return LabelsNeeded(
        KAPPA_HALF_WIDTH,
        further_units(agreement.interval, agreement.pairs, half_width=KAPPA_HALF_WIDTH),
        SCORE_HALF_WIDTH,
        further_units(widest, queries, half_width=SCORE_HALF_WIDTH),
    )
