"""The agreement of model labels with people, as a report shows it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.model.judgments import MIN_AGREEMENT

if TYPE_CHECKING:
    from karat.scoring.stats.agreement import (
        Agreement,
        BinaryAgreement,
        ConfusionTable,
        OrderAgreement,
        SystemBias,
    )


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
