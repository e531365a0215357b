"""A benchmark of the service as an experiment: a matrix of settings over a resolved gold set."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.app.engines import check_model_choice, named_engine, search_modes
from karat.app.index import check_model, model_installs
from karat.app.metrics import measures_at
from karat.app.score import LabelRule, use_labels
from karat.errors import InputError
from karat.experiments.matrix import Matrix
from karat.experiments.plan import ExperimentRequest
from karat.experiments.store import ExperimentKind
from karat.experiments.target_check import Where
from karat.extensions.service.collections import AllowedFolders, check_modes, collection_folder
from karat.extensions.service.settings import ModelChoices
from karat.extensions.service.store import Collection
from karat.model import Dataset
from karat.model.spec import Spec
from karat.scoring.settings import Scoring

# An address, a path or a module never matches, so that none is mistaken for a name.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def offered_engines(engines: Iterable[str] = (), targets: Iterable[str] = ()) -> dict[str, Spec]:
    """Return engines by name: *engines* are ``NAME=SPEC`` and *targets* ``NAME=URL``.

    A spec is what ``karat evaluate --engine`` takes; a target is an HTTP engine with an address
    only. Each is built once, so that an invalid one is rejected now.

    >>> engines = offered_engines(["rare=bm25(k1=0.5)"], ["docs=http://localhost/?q={query}"])
    >>> {name: kind_of(spec) for name, spec in engines.items()}
    {'rare': 'bm25', 'docs': 'http'}
    >>> offered_engines(["dense=bm25"])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: engine 'dense': a search mode has this name; choose another one
    """
    given: list[tuple[str, str | dict[str, object]]] = [*map(_named, engines)]
    given += [(name, {"engine": "http", "url": url}) for name, url in map(_named, targets)]
    names = [name for name, _ in given]
    for name in names:
        if name in search_modes():
            raise InputError(f"engine {name!r}: a search mode has this name; choose another one")
        if names.count(name) > 1:
            raise InputError(f"engine {name!r} is given twice")
    return {name: named_engine(name, spec) for name, spec in given}


def chosen_engines(names: Iterable[str], offered: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return those of *offered* that *names* choose, in their order.

    >>> chosen_engines(["http://localhost"], {"docs": Spec("engine", "bm25")})
    Traceback (most recent call last):
    ...
    karat.errors.InputError: no engine 'http://localhost' on this service; offered: docs
    """
    chosen: dict[str, Spec] = {}
    for name in names:
        if name not in offered:
            names_offered = (
                ", ".join(offered) or "none, it was started without --http-target and --engine"
            )
            raise InputError(f"no engine {name!r} on this service; offered: {names_offered}")
        if name in chosen:
            raise InputError(f"engines has {name!r} more than once")
        chosen[name] = offered[name]
    return chosen


DEFAULT_RERANKER = "maxsim"
NO_CHOICES = ModelChoices()


def offered_models(
    models: Iterable[str] = (), rerankers: Iterable[str] = (), contexts: Iterable[str] = ()
) -> ModelChoices:
    """Return the models that the service offers; each is ``NAME=SPEC``, and is checked.

    >>> offered_models(rerankers=["gpu=tei:http://localhost:8080"]).rerankers
    {'gpu': 'tei:http://localhost:8080'}
    >>> offered_models(models=["granite=static"])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: model 'granite': a built-in one has this name; choose another one
    """
    return ModelChoices(
        models=_offered("model", models, model_installs()),
        rerankers=_offered("reranker", rerankers, (DEFAULT_RERANKER,)),
        contexts=_offered("context", contexts, ()),
    )


def _offered(kind: str, given: Iterable[str], packaged: Container[str]) -> dict[str, str]:
    specs: dict[str, str] = {}
    for text in given:
        name, spec = _named(text, kind)
        if name in packaged:
            raise InputError(f"{kind} {name!r}: a built-in one has this name; choose another one")
        if name in specs:
            raise InputError(f"{kind} {name!r} is given twice")
        check_model_choice(kind, spec)
        specs[name] = spec
    return specs


def _check_choice(kind: str, names: Iterable[str | None], known: Sequence[str]) -> None:
    """Raise InputError for a name of *kind* that the service does not offer."""
    for name in names:
        if name is not None and name not in known:
            names_offered = ", ".join(known) or f"none, it was started without --{kind}"
            raise InputError(f"no {kind} {name!r} on this service; offered: {names_offered}")


def kind_of(spec: Spec) -> str:
    """Return the kind of an engine without its address: ``python`` for any ``module:Class``."""
    return "python" if ":" in spec.name else spec.name


def _named(given: str, kind: str = "engine") -> tuple[str, str]:
    name, equals, text = given.partition("=")
    if not equals or not NAME.fullmatch(name):
        raise InputError(
            f"{kind} {given!r}: expected NAME=..., a name of letters, digits, '.', '_' and '-'"
        )
    return name, text


# Metrics with a value at every cut-off, and metrics without a cut-off.
CUT_METRICS = ("precision", "recall", "ndcg")
WHOLE_METRICS = ("mrr", "ap")
# How many queries are timed, by the name of the choice; None is all of them.
TIMED: Mapping[str, int | None] = {"none": 0, "sample": 20, "all": None}


@dataclass(frozen=True, slots=True)
class BenchmarkConfig:
    """The configuration of a benchmark: the fields of the request that created it.

    >>> matrix = {"search_modes": ["dense", "sparse"], "k_values_for_metrics": [5]}
    >>> config = BenchmarkConfig(matrix, top_k=5, metrics=("ndcg", "mrr", "hit"))
    >>> config.measures()
    ('ndcg@10', 'ndcg@5', 'mrr', 'hit@5', 'hit@10')
    >>> BenchmarkConfig(matrix, metrics=("MAP", "nDCG@10")).labels()
    {'ndcg@10': 'nDCG@10', 'ap': 'MAP'}
    """

    matrix: Mapping[str, Any]
    top_k: int = 10
    metrics: tuple[str, ...] = (*CUT_METRICS, *WHOLE_METRICS)
    timing: str = "sample"
    judge_labels: str = "exclude"

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> "BenchmarkConfig":
        """Return the configuration that :meth:`to_json` returned."""
        return cls(
            config["config_matrix"],
            config["top_k"],
            tuple(config["metrics_to_compute"]),
            # Benchmarks of earlier versions had no choice.
            config.get("timing", "sample"),
            config.get("judge_labels", "exclude"),
        )

    def to_json(self) -> dict[str, object]:
        """Return the fields by the names of the API."""
        return {
            "config_matrix": dict(self.matrix),
            "top_k": self.top_k,
            "metrics_to_compute": list(self.metrics),
            "timing": self.timing,
            "judge_labels": self.judge_labels,
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
        self,
        collection: Collection | None = None,
        *,
        offered: Mapping[str, Spec] | None = None,
        choices: ModelChoices = NO_CHOICES,
    ) -> Matrix:
        """Return the matrix, with the chunks of *collection*, and its model if none is chosen.

        Its engines are of those that are *offered*, and its models, rerankers and contexts are
        packaged or of *choices*. InputError is raised where an axis is wrong, a name is not
        offered, or the collection lacks an index.

        >>> axes = {"search_modes": ["dense", "sparse"], "top_k_values": None}
        >>> matrix = BenchmarkConfig(axes, top_k=5).matrix_for()
        >>> [one.name for one in matrix.configurations()]
        ['dense @5', 'sparse @5']
        """
        given: dict[str, Any] = {
            name: tuple(values)
            for name, values in self.matrix.items()
            if name not in {"primary_k", "k_values_for_metrics", "engines"} and values is not None
        }
        if given.get("rrf_k_values") == (60,) and "rrf" not in given.get("fusion", ("rrf",)):
            # Benchmarks of earlier versions stored the default, which has no effect.
            del given["rrf_k_values"]
        given["engines"] = chosen_engines(self.matrix.get("engines", ()), offered or {})
        given.setdefault("top_k_values", (self.top_k,))
        given["aliases"] = self._aliases(choices)
        if collection is None:
            return Matrix(**given)
        given.setdefault("models", (str(collection.index["model"]),))
        matrix = Matrix(**given, chunkers=(str(collection.index["chunker"]),))
        check_modes(collection, matrix.search_modes)
        return matrix

    def _aliases(self, choices: ModelChoices) -> dict[str, Mapping[str, str]]:
        """Return what the names of models stand for; InputError for a name not offered."""
        for kind, axis, known in (
            ("model", "models", (*model_installs(), *choices.models)),
            ("reranker", "rerankers", (DEFAULT_RERANKER, *choices.rerankers)),
            ("context", "context", tuple(choices.contexts)),
        ):
            _check_choice(kind, self.matrix.get(axis) or (), known)
        for model in self.matrix.get("models") or ():
            if model not in choices.models:
                check_model(model)
        return {
            "models": choices.models,
            "rerankers": choices.rerankers,
            "context": choices.contexts,
        }

    def measures(self) -> tuple[str, ...]:
        """Return the measures as they were typed, first the one that runs are ranked by."""
        return tuple(self.labels().values())

    def labels(self) -> dict[str, str]:
        """Return the measures as they were typed, by their canonical names."""
        typed = {self.primary: self.primary}
        for name in self.metrics:
            for measure in measures_at(name, self.cuts, uncut=WHOLE_METRICS):
                canonical = str(measure)
                if typed.get(canonical, canonical) == canonical:
                    typed[canonical] = measure.label
        return typed


def benchmark_request(
    config: BenchmarkConfig,
    gold: Dataset,
    *,
    name: str,
    collection: Collection,
    folders: AllowedFolders,
    offered: Mapping[str, Spec],
    choices: ModelChoices = NO_CHOICES,
) -> ExperimentRequest:
    """Return the experiment that a benchmark on *collection* is.

    Its dataset is *gold* with the labels of models that *config* chooses. Its engines are
    *offered*, and its models, rerankers and contexts are of *choices*.
    """
    folder = collection_folder(collection, folders)
    # The files of a collection are chosen when it is created, not by the targets of a dataset.
    files = folder.selection._asdict()
    return ExperimentRequest(
        gold=use_labels(gold, LabelRule(config.judge_labels)),
        configurations=config.matrix_for(
            collection, offered=offered, choices=choices
        ).configurations(),
        where=Where(corpus=str(folder.path), revision=folder.revision, **files),
        kind=ExperimentKind.SWEEP,
        name=name,
        scoring=Scoring(measures=config.measures()),
        timed=TIMED[config.timing],
        scores_first=True,
    )
