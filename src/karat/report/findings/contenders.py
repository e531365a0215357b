"""Runs to choose from, and the advice on which of them to take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

from karat.model.comparison import Comparison
from karat.model.evaluation import ComparisonResult
from karat.model.frozen import EMPTY
from karat.model.timings import RunResult
from karat.report.findings.latency import latencies_ms
from karat.scoring.metrics import Measure, parse


class Advice(NamedTuple):
    """The recommended run for one purpose, with the reason and its certainty."""

    purpose: str
    run: str
    why: str
    certainty: str


@dataclass(frozen=True, slots=True)
class Contenders:
    """The runs to choose from: their scores in *contest*, latencies and costs in *runs*.

    Queries that share a label in *clusters* were drawn together. *measures* are those of score
    files.
    """

    contest: ComparisonResult
    runs: Sequence[RunResult]
    clusters: Sequence[str] | None = None
    measures: Mapping[str, Measure] = EMPTY

    def measure(self, name: str) -> Measure:
        """Return the measure called *name*: one of a score file, or one of Karat."""
        return self.measures.get(name) or parse(name)

    @property
    def comparison(self) -> Comparison:
        """Return the comparison of the runs."""
        return self.contest.comparison

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the runs."""
        return self.comparison.systems

    @property
    def lead(self) -> str:
        """Return the leading measure."""
        return self.comparison.metrics[0]

    @property
    def lower_is_better(self) -> bool:
        """Return whether less is better on the leading measure."""
        return self.lead in self.comparison.lower_is_better

    @property
    def query_ids(self) -> Sequence[str]:
        """Return the ids of the queries, in the order of the scores."""
        return self.contest.evaluations[0].table.query_ids

    @property
    def timed(self) -> tuple[str, ...]:
        """Return the names of the runs that have latencies."""
        return tuple(
            name
            for name, run in zip(self.names, self.runs, strict=True)
            if not all(map(isnan, latencies_ms(run, self.query_ids)))
        )

    def scores(self, run: int, measure: str | None = None) -> list[float]:
        """Return the scores of the run at *run*; of the lead without *measure*."""
        return list(self.contest.evaluations[run].table.columns[measure or self.lead])
