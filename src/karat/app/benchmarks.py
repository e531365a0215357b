"""A benchmark of the service as an experiment: a matrix of settings over a resolved gold set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.app.collections import Places, check_modes, collection_place
from karat.app.experiment import Request
from karat.app.offered import chosen_engines
from karat.app.settings import Scoring
from karat.app.where import Where
from karat.metrics import METRICS, parse
from karat.model import Dataset
from karat.model.spec import Spec
from karat.store import Kind
from karat.store.service import Collection
from karat.sweep.matrix import Matrix

__all__ = ["BenchmarkConfig", "benchmark_request"]

# What has a value at every cut-off, and what needs none.
CUT_METRICS = ("precision", "recall", "ndcg")
WHOLE_METRICS = ("mrr", "ap")
# How many queries are timed, by the name of the choice; None is all of them.
TIMED: Mapping[str, int | None] = {"none": 0, "sample": 20, "all": None}


@dataclass(frozen=True, slots=True)
class BenchmarkConfig:
    """What a benchmark compares and measures: the fields of the request that made it.

    >>> matrix = {"search_modes": ["dense", "sparse"], "k_values_for_metrics": [5]}
    >>> config = BenchmarkConfig(matrix, top_k=5, metrics=("ndcg", "mrr", "hit"))
    >>> config.measures()
    ('ndcg@10', 'ndcg@5', 'mrr', 'hit@5', 'hit@10')
    """

    matrix: Mapping[str, Any]
    top_k: int = 10
    metrics: tuple[str, ...] = (*CUT_METRICS, *WHOLE_METRICS)
    timing: str = "sample"

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> "BenchmarkConfig":
        """Return what :meth:`to_json` gave."""
        return cls(
            config["config_matrix"],
            config["top_k"],
            tuple(config["metrics_to_compute"]),
            # Benchmarks of earlier versions had no choice.
            config.get("timing", "sample"),
        )

    def to_json(self) -> dict[str, object]:
        """Return the fields by the names of the API."""
        return {
            "config_matrix": dict(self.matrix),
            "top_k": self.top_k,
            "metrics_to_compute": list(self.metrics),
            "timing": self.timing,
        }

    @property
    def primary_k(self) -> int:
        """Return the cut-off that runs are ranked by."""
        return int(self.matrix.get("primary_k") or 10)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Return all cut-offs, ascending."""
        return tuple(sorted({self.primary_k, *self.matrix.get("k_values_for_metrics", ())}))

    @property
    def primary(self) -> str:
        """Return the measure that runs are ranked by."""
        return f"ndcg@{self.primary_k}"

    def matrix_for(
        self, collection: Collection | None = None, *, offered: Mapping[str, Spec] | None = None
    ) -> Matrix:
        """Return the matrix, with the chunks and the model of *collection*.

        Its engines are of those that are *offered*. InputError is raised where an axis is wrong, an
        engine is not offered, or the collection lacks an index.

        >>> axes = {"search_modes": ["dense", "sparse"], "top_k_values": None}
        >>> [entry.name for entry in BenchmarkConfig(axes, top_k=5).matrix_for().entries()]
        ['dense @5', 'sparse @5']
        """
        given: dict[str, Any] = {
            name: tuple(values)
            for name, values in self.matrix.items()
            if name not in {"primary_k", "k_values_for_metrics", "engines"} and values is not None
        }
        given["engines"] = chosen_engines(self.matrix.get("engines", ()), offered or {})
        given.setdefault("top_k_values", (self.top_k,))
        if collection is None:
            return Matrix(**given)
        chunker, model = collection.index["chunker"], collection.index["model"]
        matrix = Matrix(**given, chunkers=(str(chunker),), models=(str(model),))
        check_modes(collection, matrix.search_modes)
        return matrix

    def measures(self) -> tuple[str, ...]:
        """Return the names of what is measured, first what runs are ranked by."""
        found = [self.primary]
        for name in self.metrics:
            found += self._at_cuts(name)
        return tuple(dict.fromkeys(found))

    def _at_cuts(self, name: str) -> list[str]:
        """Return a metric at every cut-off; one that names its own, or takes none, as it is."""
        if "@" in name or "(" in name:
            return [str(parse(name))]
        metric = METRICS.get(METRICS.canonical(name))
        if metric.cut == "none" or metric.name in WHOLE_METRICS:
            return [metric.name]
        return [f"{metric.name}@{k}" for k in self.cuts]


def benchmark_request(
    config: BenchmarkConfig,
    gold: Dataset,
    *,
    name: str,
    collection: Collection,
    places: Places,
    offered: Mapping[str, Spec],
) -> Request:
    """Return the experiment that a benchmark on *collection* is; its engines are *offered*."""
    place = collection_place(collection, places)
    return Request(
        gold=gold,
        entries=config.matrix_for(collection, offered=offered).entries(),
        where=Where(corpus=str(place.path), revision=place.revision),
        kind=Kind.SWEEP,
        name=name,
        scoring=Scoring(measures=config.measures()),
        timed=TIMED[config.timing],
        scores_first=True,
    )
