"""Results of analyses: weak topics, embedding quality, index health, trends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from karat.model.comparison import Interval
from karat.model.frozen import by_value


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class TopicScore:
    """The mean of one run on one topic; *p* is the probability of so low a mean by chance."""

    mean: float | None
    interval: Interval
    p: float | None
    weak: bool


@dataclass(frozen=True, slots=True)
class Topic:
    """Similar queries: their characteristic words, the most central query, a score per run."""

    words: tuple[str, ...]
    example: str
    query_ids: tuple[str, ...]
    scores: tuple[TopicScore, ...]


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """The topics of a dataset, the weakest on the last run first.

    *similar* names the basis of the similarity: a model, or words. *left_out* queries have no text
    to compare; *missing* has, for each run, the queries that it lacks, which count 0.
    """

    measure: str
    similar: str
    runs: tuple[str, ...]
    means: tuple[float, ...]
    topics: tuple[Topic, ...]
    left_out: int = 0
    missing: tuple[int, ...] = ()


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingQuality:
    """How a model spreads texts, and whether relevant chunks are nearer than irrelevant ones.

    - ``mean_cosine``: of two random chunks; near 1, all texts look alike.
    - ``first_direction``: the share of the vectors' squared length along one line.
    - ``separation``: the probability, averaged over queries, that a relevant chunk is nearer than
    one
      of another file (the area under the ROC curve), with its interval; 0.5 is random.
    - ``relevant`` and ``irrelevant``: mean cosines; ``distance`` is their gap in standard
      deviations.

    *zeros* chunks have an empty embedding. *queries* have a relevant chunk, *unplaced* ones do not.
    """

    model: str
    dimension: int
    chunks: int
    zeros: int
    queries: int
    unplaced: int
    mean_cosine: float
    first_direction: float
    separation: float
    interval: Interval
    relevant: float
    irrelevant: float
    distance: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One kind of flaw: the number of affected chunks (or files), the total, and examples."""

    kind: str
    count: int
    of: int
    places: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """Waste in an index: chunks that no query can retrieve, and duplicates.

    *fallbacks* counts documents that could not be chunked as requested, by reason. *queries* is the
    number of queries behind the never-retrieved chunks, 0 if none were run.
    """

    engine: str
    corpus: str
    documents: int
    chunks: int
    queries: int
    flaws: tuple[Flaw, ...]
    fallbacks: Mapping[str, int] = field(default_factory=dict)

    @property
    def healthy(self) -> bool:
        """Return whether there is no flaw; a chunk that few queries did not retrieve is not one."""
        return not any(flaw.count for flaw in self.flaws if flaw.kind != "never retrieved")


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class TrendPoint:
    """One run of a configuration: its time, its mean, and its change from the previous level.

    *change* is the paired difference from the mean of all runs since the last real change; *p* is
    corrected for the number of runs. *verdict* is ``first``, ``real``, ``noise``, or ``unchanged``
    for the scores of the run before.
    """

    run: str
    when: datetime
    mean: float | None
    interval: Interval
    change: float | None
    p: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Trend:
    """A measure of one configuration over time, the oldest run first."""

    label: str
    measure: str
    points: tuple[TrendPoint, ...]
