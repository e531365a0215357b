"""What a gold set can detect by its size alone, before an engine has run on it."""

import math
from typing import Any, NamedTuple

from karat.model import Dataset
from karat.system.words import counted

METRIC = "ndcg@10"
# The usual standard deviation of paired differences of ndcg@10 between two engines of one kind:
# 0.17 to 0.19 between BM25 with and without code ranking, on cases from two repositories. Between
# two settings of BM25 it was 0.04 to 0.09, between BM25 and a keyword search 0.26 to 0.29.
DEVIATION = 0.18
LEVEL, POWER = 0.95, 0.8


class Detection(NamedTuple):
    """The change that *queries* detect with 80 % power at the level 0.05; None if they detect none.

    Queries in clusters count as one query per cluster. *units* are the clusters, or the queries.
    """

    queries: int
    units: int
    change: float | None

    def __str__(self) -> str:
        """Return one sentence.

        >>> print(Detection(250, 250, 0.0321))
        250 queries detect a change of about 0.03 in ndcg@10 between two similar engines
        (assumed standard deviation of the differences: 0.18)
        """
        size = counted(self.queries, "query")
        if self.units < self.queries:
            size += f" in {counted(self.units, 'cluster')}"
        verb = "detects" if self.queries == 1 else "detect"
        if self.change is None:
            return (
                f"{size} cannot {verb.rstrip('s')} any change: too few for a significant difference"
            )
        amount = f"{self.change:.2f}" if self.change >= 0.01 else f"{self.change:.3f}"
        return (
            f"{size} {verb} a change of about {amount} in {METRIC} between two similar engines "
            f"(assumed standard deviation of the differences: {DEVIATION})"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields, with the metric and the assumption."""
        return {"metric": METRIC, **self._asdict(), "assumed_standard_deviation": DEVIATION}


def detection(dataset: Dataset) -> Detection:
    """Return what the queries of *dataset* with a relevant target detect."""
    from karat.scoring.score import cluster_labels
    from karat.scoring.stats.moments import Moments
    from karat.scoring.stats.power import Threshold, smallest_mean

    rows = [
        row
        for row, (start, stop) in enumerate(zip(dataset.offsets, dataset.offsets[1:], strict=False))
        if any(grade > 0 for grade in dataset.grades[start:stop])
    ]
    labels = cluster_labels(dataset, None)
    units = len({labels[row] for row in rows}) if labels else len(rows)
    if not units:
        return Detection(0, 0, None)
    assumed = Moments(units, units, 0.0, DEVIATION, DEVIATION / math.sqrt(units))
    threshold = Threshold(round(1 - LEVEL, 12))
    return Detection(
        len(rows), units, smallest_mean(assumed, threshold, changed=units, power=POWER)
    )
