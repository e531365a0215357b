"""A matrix of settings: every combination that makes a difference is one configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from typing import NamedTuple

from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.engines.embedding.names import embedder_named
from karat.engines.rerank import DEFAULT_RERANKER
from karat.errors import InputError
from karat.model.spec import Spec
from karat.sweep.axes import MODES, faults
from karat.sweep.entries import Entry

__all__ = ["Matrix"]


class _Choice(NamedTuple):
    """One value of each axis; None for an axis that the mode does not look at."""

    chunker: str
    search_mode: str
    model: str | None
    rrf_k: int | None
    top_k: int
    reranker: str | None
    score_threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The values to combine. Those that a mode does not use make no further configurations.

    A threshold of None drops nothing; for mode ``dense`` it is a cosine, for the others a share of
    the best score of the query. *primary_k* and *k_values_for_metrics* say what is measured.
    *engines* are further searches by their names, of which nothing but the depth is combined; with
    some of them there may be no mode. A model may have the name that the hub gives it.

    >>> matrix = Matrix(search_modes=("dense", "hybrid"), rrf_k_values=(40, 60), top_k_values=(10,))
    >>> [entry.name for entry in matrix.entries()]
    ['dense @10', 'hybrid rrf40 @10', 'hybrid rrf60 @10']
    """

    search_modes: tuple[str, ...] = ("dense",)
    use_reranker: tuple[bool, ...] = (False,)
    top_k_values: tuple[int, ...] = (10,)
    rrf_k_values: tuple[int, ...] = (60,)
    score_thresholds: tuple[float | None, ...] = (None,)
    chunkers: tuple[str, ...] = ("auto",)
    models: tuple[str, ...] = (DEFAULT_EMBEDDER,)
    rerankers: tuple[str, ...] = (DEFAULT_RERANKER,)
    primary_k: int | None = None
    k_values_for_metrics: tuple[int, ...] = ()
    engines: Mapping[str, Spec] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse axes that hold what means nothing; all that is wrong is told at once."""
        wrong = [
            f"{axis}: {message}"
            for axis, values in self._axes()
            for _, message in faults(axis, values)
        ]
        if wrong:
            raise InputError("\n".join(wrong))

    def _axes(self) -> Iterator[tuple[str, Sequence[object]]]:
        for axis in fields(self):
            held = getattr(self, axis.name)
            if isinstance(held, int):
                yield axis.name, (held,)
            elif isinstance(held, tuple) and (
                held or axis.name != "search_modes" or not self.engines
            ):
                yield axis.name, held

    def entries(self) -> tuple[Entry, ...]:
        """Return the configurations, in the order of the axes."""
        return (*map(self._entry, self._choices()), *self._engine_entries())

    def count(self) -> int:
        """Return how many configurations there are, without making them.

        >>> Matrix(search_modes=("sparse", "hybrid"), rrf_k_values=(20, 40, 60)).count()
        4
        """
        return sum(1 for _ in self._choices()) + len(self.engines) * len(self.top_k_values)

    def measures(self) -> tuple[str, ...]:
        """Return the names of what is measured, first what configurations are ranked by.

        Empty where the matrix does not say.

        >>> Matrix(primary_k=10, k_values_for_metrics=(5,)).measures()
        ('ndcg@10', 'mrr', 'ap', 'precision@5', 'recall@5', 'ndcg@5')
        """
        cuts = self.k_values_for_metrics or ((self.primary_k,) if self.primary_k else ())
        if not cuts:
            return ()
        at_k = [f"{metric}@{k}" for metric in ("precision", "recall", "ndcg") for k in cuts]
        return tuple(dict.fromkeys([f"ndcg@{self.primary_k or cuts[0]}", "mrr", "ap", *at_k]))

    def _choices(self) -> Iterator[_Choice]:
        rerankers = [
            reranker
            for used in self.use_reranker
            for reranker in (self.rerankers if used else (None,))
        ]
        for chunker, mode in product(self.chunkers, self.search_modes):
            _, axes = MODES[mode]
            combined = product(
                self.models if "model" in axes else (None,),
                self.rrf_k_values if "rrf_k" in axes else (None,),
                self.top_k_values,
                rerankers,
                self.score_thresholds,
            )
            yield from (_Choice(chunker, mode, *values) for values in combined)

    def _entry(self, choice: _Choice) -> Entry:
        options = {
            "search_mode": choice.search_mode,
            "use_reranker": choice.reranker is not None,
            "top_k": choice.top_k,
            "score_threshold": choice.score_threshold,
            "chunker": choice.chunker,
        }
        used = {"rrf_k": choice.rrf_k, "model": choice.model, "reranker": choice.reranker}
        options |= {name: value for name, value in used.items() if value is not None}
        threshold = choice.score_threshold or 0.0
        return Entry(self._name(choice), _spec(choice), choice.top_k, threshold, options)

    def _engine_entries(self) -> Iterator[Entry]:
        for (name, spec), k in product(self.engines.items(), self.top_k_values):
            yield Entry(f"{name} @{k}", spec, k, options={"engine": name, "top_k": k})

    def _name(self, choice: _Choice) -> str:
        """Return the mode and what tells this configuration from the others."""
        parts = [choice.search_mode]
        if choice.rrf_k and len(self.rrf_k_values) > 1:
            parts.append(f"rrf{choice.rrf_k}")
        if len(self.chunkers) > 1:
            parts.append(choice.chunker)
        if choice.model and len(self.models) > 1:
            parts.append(choice.model)
        if choice.reranker:
            parts.append(f"+{choice.reranker if len(self.rerankers) > 1 else 'rerank'}")
        parts.append(f"@{choice.top_k}")
        if choice.score_threshold is not None:
            parts.append(f"≥{choice.score_threshold}")
        return " ".join(parts)


def _spec(choice: _Choice) -> Spec:
    """Return the engine of *choice*; what it would do by itself is left unsaid."""
    engine, _ = MODES[choice.search_mode]
    params: dict[str, object] = {}
    if choice.rrf_k is not None:
        params |= {"fusion": "rrf", "rrf_k": choice.rrf_k}
    if choice.model is not None and (model := embedder_named(choice.model)) != DEFAULT_EMBEDDER:
        params["model"] = model
    if choice.chunker != "auto":
        params["chunker"] = choice.chunker
    if choice.reranker is None:
        return Spec("engine", engine, params)
    outer: dict[str, object] = {"over": {"engine": engine, **params}}
    if choice.reranker != DEFAULT_RERANKER:
        outer["model"] = choice.reranker
    return Spec("engine", "rerank", outer)
