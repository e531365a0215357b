"""What an analysis finds: weak topics, an embedding's quality, an index's flaws, a trend."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from karat.model.comparison import Interval
from karat.model.equality import by_value

__all__ = ["EmbeddingQuality", "Flaw", "Health", "Point", "Topic", "TopicScore", "Topics", "Trend"]


@by_value
@dataclass(frozen=True, slots=True)
class TopicScore:
    """The mean of one run on one topic; *p* is the chance that a topic of this size is as weak."""

    mean: float | None
    interval: Interval
    p: float | None
    weak: bool


@dataclass(frozen=True, slots=True)
class Topic:
    """Queries that are alike: the words that mark them, the one nearest to all, a score a run."""

    words: tuple[str, ...]
    example: str
    query_ids: tuple[str, ...]
    scores: tuple[TopicScore, ...]


@by_value
@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a gold set, the weakest on the last run first.

    *similar* says what made queries alike: a model, or words. *left_out* queries have no text to
    compare; *missing* are, for each run, the queries that are not in it and count 0.
    """

    measure: str
    similar: str
    runs: tuple[str, ...]
    means: tuple[float, ...]
    topics: tuple[Topic, ...]
    left_out: int = 0
    missing: tuple[int, ...] = ()


@by_value
@dataclass(frozen=True, slots=True)
class EmbeddingQuality:
    """How a model spreads texts, and whether what is relevant lies nearer than what is not.

    - ``mean_cosine``: of two different chunks drawn at random; near 1 all texts look alike.
    - ``first_direction``: the share of the vectors' squared length along one line.
    - ``separation``: over queries, the mean chance that a relevant chunk is nearer than one of
      another file (the area under the ROC curve), with its interval; 0.5 is guessing.
    - ``relevant`` and ``irrelevant``: mean cosines; ``distance`` is their gap in standard
      deviations.

    *zeros* chunks have nothing to embed. *queries* have a relevant chunk, *unplaced* ones none.
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
    """One kind of flaw: how many chunks (or files) of how many have it, and some of them."""

    kind: str
    count: int
    of: int
    places: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """What an index holds that no search will find, or that is there twice.

    *fallbacks* counts documents that were not cut as asked for, by reason. *queries* is how many
    were asked for what is never retrieved, 0 where none were.
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
        """Return whether nothing is wrong; a chunk that few queries never met is no flaw yet."""
        return not any(flaw.count for flaw in self.flaws if flaw.kind != "never retrieved")


@by_value
@dataclass(frozen=True, slots=True)
class Point:
    """One run of a configuration: when, its mean, and its change from the level before it.

    *change* is the paired difference from the mean of all runs since the last real change; *p* is
    corrected for the number of runs. *verdict* is ``first``, ``real`` or ``noise``.
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
    points: tuple[Point, ...]
