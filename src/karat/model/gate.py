"""The result of a gate: one check per rule, and the queries that changed most."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from karat.model.comparison import Interval
from karat.model.frozen import EMPTY, by_value
from karat.model.judgments import LabelUse


class Decision(Enum):
    """The result of a rule. INCONCLUSIVE: it is violated, but possibly by chance."""

    PASSED = "passed"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One rule, applied to one measure.

    *rule* is ``minimum``, ``regression``, ``lost-hits`` or ``latency``, *subject* the measure, the
    percentile or ``hits``. *value* is compared with *limit*: the mean, the loss, the queries that
    lost all hits, or milliseconds; with *is_default*, nobody has set the limit. *interval* is that
    of the mean, or of the difference (run minus baseline); *detectable* is the true difference that
    the *n* queries detect with a probability of 80 %. *why* is a sentence. *before* and *after* are
    the means of the baseline and of the run on the queries that both have, for a regression only.
    """

    rule: str
    subject: str
    decision: Decision
    value: float
    limit: float
    n: int
    why: str
    interval: Interval | None = None
    detectable: float | None = None
    before: float | None = None
    after: float | None = None
    is_default: bool = False


@by_value
class ChangedQuery(NamedTuple):
    """One query before and after: its scores, and the ranks of its first relevant hit.

    A rank is None if no relevant hit was returned.
    """

    query_id: str
    text: str
    before: float
    after: float
    rank_before: float | None
    rank_after: float | None


@dataclass(frozen=True, slots=True)
class Gate:
    """The checks of one run; *worst* and *best* are the queries that changed most on *lead*.

    *baseline* names the other run; without one it is empty, and so are *lead*, *worst*, *best* and
    *verdict*. With *strict*, an inconclusive check fails. *labels* says how labels of
    models are used, None if the dataset has none. *rule* says in a sentence which losses fail and
    why, and *known* are the notes that the baseline has too. Without the notes *decisive*, the
    scores would be misread.
    """

    name: str
    queries: int
    checks: tuple[Check, ...]
    strict: bool = False
    baseline: str = ""
    lead: str = ""
    worst: tuple[ChangedQuery, ...] = ()
    best: tuple[ChangedQuery, ...] = ()
    verdict: str = ""
    notes: tuple[str, ...] = ()
    labels: LabelUse | None = None
    rule: str = ""
    known: tuple[str, ...] = ()
    decisive: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Return the mark beside numbers that use doubtful labels of models, usually ""."""
        return self.labels.mark if self.labels else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warning about doubtful labels of models, if there is one."""
        return (self.labels.text,) if self.labels and self.labels.is_doubtful else ()

    @property
    def decision(self) -> Decision:
        """Return the most severe decision of all checks."""
        decisions = {check.decision for check in self.checks}
        grave = (Decision.FAILED, Decision.INCONCLUSIVE)
        return next((each for each in grave if each in decisions), Decision.PASSED)

    def fails(self, decision: Decision) -> bool:
        """Return whether *decision* makes the gate fail."""
        return decision is Decision.FAILED or (self.strict and decision is Decision.INCONCLUSIVE)

    @property
    def closed(self) -> bool:
        """Return whether the gate fails: exit code 1."""
        return self.fails(self.decision)


@by_value
class SelfCheck(NamedTuple):
    """How often a gate flips between runs of one unchanged engine.

    Each of *runs* was the baseline of each other one: *pairs* gates, of which *failed* failed. Each
    rule has the number of its decisions in *decisions*. With *identical*, all runs have the same
    hits.
    """

    runs: tuple[str, ...]
    pairs: int
    failed: int
    identical: bool
    decisions: Mapping[str, Mapping[str, int]]

    @property
    def verdict(self) -> str:
        """Return the outcome in a sentence."""
        runs = f"{len(self.runs)} runs"
        if self.identical:
            return f"The hits of all {runs} are identical: no rule on scores can flip."
        text = f"{self.failed} of {self.pairs} gates between {runs} of one unchanged engine fail"
        if self.failed:
            return f"{text}: each is a false alarm."
        return f"{text}."


@by_value
class BaselineQuery(NamedTuple):
    """One query: its *digest*, its scores (NaN: not scored), and its first relevant rank.

    *rank* is None if no relevant hit was returned. *model* is set for the queries of a human
    sample: their scores by the labels of the model. *hits* is the number of hits, None if it is not
    known or the query has no relevant target.
    """

    id: str
    digest: str
    rank: float | None
    scores: Mapping[str, float]
    model: Mapping[str, float] = EMPTY
    hits: int | None = None


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """One scored run, stored to compare later runs with.

    *gold_digest* is the digest of the dataset, *settings* are those that affect judging, *made_at*
    is a date and *version* the version of Karat. *means* has each measure over all queries.
    *deterministic* says whether the engine answered identically, None if that is not known.
    *sample_of* is the size of the dataset that *queries* is a sample of, 0 if it is whole. *notes*
    are remarks on the run; *missing* counts the queries that the run lacks.
    """

    name: str
    gold: str
    gold_digest: str
    made_at: str
    version: str
    settings: Mapping[str, object]
    means: Mapping[str, float]
    queries: tuple[BaselineQuery, ...]
    deterministic: bool | None = None
    sample_of: int = 0
    notes: tuple[str, ...] = ()
    missing: int = 0

    @property
    def ties(self) -> str | None:
        """Return the order of hits with equal scores that it was scored with."""
        rule = self.settings.get("ties")
        return rule if isinstance(rule, str) else None

    @property
    def orders_engines(self) -> bool:
        """Return whether its rule for equal scores was applied to runs of engines too.

        That was so up to version 0.2; since then these keep their own order.
        """
        major, _, rest = self.version.partition(".")
        minor = rest.partition(".")[0]
        return major == "0" and minor in {"1", "2"}
