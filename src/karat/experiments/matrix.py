"""A matrix of settings: every combination that makes a difference is one configuration."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from math import inf
from typing import Any, NamedTuple

from karat.corpus import create_chunker
from karat.engines.context import check_context
from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.engines.embedding.base import check_model, embedder_named
from karat.engines.fusion import DEFAULT_FUSION, RRF, RRF_K, check_fusion
from karat.engines.own_parameters import (
    check_parameters,
    parameter_value,
    takes_parameter,
    with_parameter,
)
from karat.engines.placeholders import value_text
from karat.engines.registry import modes
from karat.engines.rerank import DEFAULT_RERANKER, check_reranker
from karat.engines.sparse import check_sparse_encoder
from karat.errors import InputError, MissingExtra
from karat.experiments.workers import Configuration
from karat.model.spec import Spec

THRESHOLDS = "score_thresholds"


def axis_problems(axis: str, values: Sequence[object]) -> Iterator[tuple[int | None, str]]:
    """Yield the problems of the *values* of *axis*, each with its index; None for all values.

    >>> list(axis_problems("top_k_values", [10, 0, 10]))
    [(1, '0 is out of range; expected 1 or more'), (2, '10 appears more than once')]
    """
    if not values and axis not in MAY_BE_EMPTY:
        yield None, "the list is empty"
    for number, value in enumerate(values):
        if value in values[:number]:
            yield number, f"{'null' if value is None else repr(value)} appears more than once"
        elif axis in CHECKS:
            try:
                CHECKS[axis](value)
            except (InputError, MissingExtra) as error:
                yield number, str(error)
    if axis == THRESHOLDS and {None, 0.0} <= set(values):
        yield None, "null and 0 both drop nothing; expected one of them"


def _mode(name: str) -> None:
    known = modes()
    if name not in known:
        raise InputError(
            f"{name!r} is not a search mode; expected one of: bm25, {', '.join(known)}; a profile, "
            f"an engine or its file goes into engines: [{name}]"
        )


def _count(value: int) -> None:
    if value < 1:
        raise InputError(f"{value} is out of range; expected 1 or more")


def _threshold(value: float | None) -> None:
    if not 0.0 <= (value or 0.0) <= 1.0:
        raise InputError(f"{value} is out of range; expected 0 to 1, or null")


def _share(value: float | None) -> None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise InputError(f"{value} is out of range; expected 0 to 1")


def _saturation(value: float | None) -> None:
    if value is not None and not 0.0 <= value < inf:
        raise InputError(f"{value} is out of range; expected 0 or more")


def _optional_count(value: int | None) -> None:
    if value is not None:
        _count(value)


def _late_model(value: str) -> None:
    # Such a model is a reranker too.
    check_reranker(f"colbert:{value.removeprefix('colbert:')}")


def _context(value: str | None) -> None:
    if value is not None:
        check_context(value)


NO_RRF = "fusion has no rrf, so that they have no effect; add rrf to fusion, or remove them"
MAY_BE_EMPTY = frozenset({"k_values_for_metrics", "sparse_models", "late_models"})
CHECKS: Mapping[str, Callable[[Any], object]] = {
    "search_modes": _mode,
    "top_k_values": _count,
    "rrf_k_values": _count,
    THRESHOLDS: _threshold,
    "chunkers": create_chunker,
    "models": check_model,
    "sparse_models": check_sparse_encoder,
    "late_models": _late_model,
    "rerankers": check_reranker,
    "fusion": check_fusion,
    "dense_weight": _share,
    "k1": _saturation,
    "b": _share,
    "context": _context,
    "rerank_depth": _optional_count,
    "k_values_for_metrics": _count,
    "primary_k": _count,
}


HOW_TO_USE = (
    "write {{{0}}} into its command, env, url, headers, body or arguments, or make {0} a keyword "
    "of its Python class"
)


def parameter_problems(
    parameters: Mapping[str, Sequence[object]], engines: Iterable[Spec]
) -> Iterator[tuple[str, int | None, str]]:
    """Yield the problems of the values of *parameters*: name, index and message.

    A parameter that no engine takes would do nothing. The index is None for all values.
    """
    engines = list(engines)
    for name, values in parameters.items():
        problems = list(axis_problems(name, values))
        takers = [spec for spec in engines if takes_parameter(spec, name)]
        if not takers:
            problems.append((None, f"no engine uses it; {HOW_TO_USE.format(name)}"))
        yield from ((name, number, message) for number, message in problems)
        for spec in takers if not problems else ():
            complete = first_values(spec, parameters)
            for number, value in enumerate(values):
                try:
                    check_parameters(with_parameter(complete, name, value))
                except InputError as error:
                    yield name, number, str(error)


def first_values(spec: Spec, parameters: Mapping[str, Sequence[object]]) -> Spec:
    """Return *spec* with the first value of each of the *parameters* that it takes."""
    for name, values in parameters.items():
        if values and takes_parameter(spec, name):
            spec = with_parameter(spec, name, values[0])
    return spec


# Axes whose values become the engine's option of the same name; None is the engine's default.
TUNED = ("dense_weight", "k1", "b", "code_ranking", "context")
# Axes of models that only some modes have, and the axis of engines that they are.
OF_MODE = {"sparse_models": "sparse_model", "late_models": "late_model"}


class _Choice(NamedTuple):
    """One value of each axis; None for an axis that the mode does not look at, and for a default.

    *tuned* has the values of TUNED in that order.
    """

    search_mode: str
    chunker: str | None
    model: str | None
    fusion: str | None
    rrf_k: int | None
    tuned: tuple[object, ...]
    top_k: int
    reranker: str | None
    rerank_depth: int | None
    score_threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The values to combine. Values that a mode does not use add no configurations.

    A threshold of None drops nothing; for mode ``dense`` it is a cosine, for the others a share of
    the best score of the query. *dense_weight*, *k1*, *b*, *code_ranking* and *context* are options
    of the engines; None is the default of the engine. Without *fusion* it is ``rrf`` if there are
    *rrf_k_values*, else ``min-max`` as in the engine hybrid; without *rrf_k_values* the constant of
    ``rrf`` is 60. *rerank_depth* counts where there is a reranker. *sparse_models* are those of
    mode ``splade``, and *late_models* those of mode ``colbert``. *primary_k* and
    *k_values_for_metrics* say what is measured. *engines* are further engines by their names; with
    some of them there may be no mode. Only the depth and *parameters* are combined with them, which
    are values by the name of a parameter: each engine has those that it takes. A model may have the
    name that the hub gives it. *aliases* are short names of the values of an axis, which is
    ``models``, ``rerankers``, ``context`` or a parameter: configurations show the alias and use
    what it stands for.

    >>> matrix = Matrix(search_modes=("dense", "hybrid"), rrf_k_values=(40, 60), top_k_values=(10,))
    >>> [configuration.name for configuration in matrix.configurations()]
    ['dense @10', 'hybrid rrf40 @10', 'hybrid rrf60 @10']
    """

    search_modes: tuple[str, ...] = ("dense",)
    use_reranker: tuple[bool, ...] = (False,)
    top_k_values: tuple[int, ...] = (10,)
    rrf_k_values: tuple[int, ...] = ()
    score_thresholds: tuple[float | None, ...] = (None,)
    chunkers: tuple[str, ...] = ("auto",)
    models: tuple[str, ...] = (DEFAULT_EMBEDDER,)
    sparse_models: tuple[str, ...] = ()
    late_models: tuple[str, ...] = ()
    rerankers: tuple[str, ...] = (DEFAULT_RERANKER,)
    fusion: tuple[str, ...] = ()
    dense_weight: tuple[float | None, ...] = (None,)
    k1: tuple[float | None, ...] = (None,)
    b: tuple[float | None, ...] = (None,)
    code_ranking: tuple[bool | None, ...] = (None,)
    context: tuple[str | None, ...] = (None,)
    rerank_depth: tuple[int | None, ...] = (None,)
    primary_k: int | None = None
    k_values_for_metrics: tuple[int, ...] = ()
    engines: Mapping[str, Spec] = field(default_factory=dict)
    parameters: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject invalid axes; all problems are reported at once."""
        # The model of a default may not be installed; it is needed only where it is used.
        defaults = {axis.name: axis.default for axis in fields(self)}
        wrong = [
            f"{axis}: {message}"
            for axis, values in self._axes()
            if values != defaults[axis]
            for _, message in axis_problems(axis, self._meant(axis, values))
        ]
        wrong += self._missing_models()
        meant = {name: self._meant(name, values) for name, values in self.parameters.items()}
        problems = parameter_problems(meant, self.engines.values())
        wrong += [f"{name}: {message}" for name, _, message in problems]
        if self.rrf_k_values and RRF not in self._fusion():
            wrong.append(f"rrf_k_values: {NO_RRF}")
        if wrong:
            raise InputError("\n".join(wrong))

    def _meant(self, axis: str, values: Sequence[object]) -> Sequence[object]:
        """Return *values* with the aliases of *axis* replaced."""
        known = self.aliases.get(axis, {})
        return [known.get(value, value) if isinstance(value, str) else value for value in values]

    def _missing_models(self) -> list[str]:
        """Return a sentence for each mode whose models are not given."""
        by_mode = modes()
        return [
            f"search_modes: {mode} needs a model; expected {key}: [<hub id or folder>]"
            for mode in self.search_modes
            for key, axis in OF_MODE.items()
            if mode in by_mode and axis in by_mode[mode].axes and not getattr(self, key)
        ]

    def _axes(self) -> Iterator[tuple[str, Sequence[object]]]:
        for axis in fields(self):
            held = getattr(self, axis.name)
            if isinstance(held, int):
                yield axis.name, (held,)
            elif isinstance(held, tuple) and (
                held or axis.name != "search_modes" or not self.engines
            ):
                yield axis.name, held

    def configurations(self) -> tuple[Configuration, ...]:
        """Return the configurations: those of *engines*, then in the order of the axes.

        The first one is the baseline, and engines by name are what a user has already.
        """
        return (*self._engine_configurations(), *map(self._configuration, self._choices()))

    def count(self) -> int:
        """Return the number of configurations without creating them.

        >>> Matrix(search_modes=("sparse", "hybrid"), rrf_k_values=(20, 40, 60)).count()
        4
        """
        return sum(1 for _ in self._choices()) + sum(1 for _ in self._engine_configurations())

    def measures(self) -> tuple[str, ...]:
        """Return the names of the measures; configurations are ranked by the first one.

        Empty if the matrix has none.

        >>> Matrix(primary_k=10, k_values_for_metrics=(5,)).measures()
        ('ndcg@10', 'mrr', 'ap', 'precision@5', 'recall@5', 'ndcg@5')
        """
        cuts = self.k_values_for_metrics or ((self.primary_k,) if self.primary_k else ())
        if not cuts:
            return ()
        at_k = [f"{metric}@{k}" for metric in ("precision", "recall", "ndcg") for k in cuts]
        return tuple(dict.fromkeys([f"ndcg@{self.primary_k or cuts[0]}", "mrr", "ap", *at_k]))

    def _choices(self) -> Iterator[_Choice]:
        rerankers: list[tuple[str | None, int | None]] = [
            pair
            for used in self.use_reranker
            for pair in (product(self.rerankers, self.rerank_depth) if used else [(None, None)])
        ]
        by_mode = modes()
        for number, mode in product(range(len(self.chunkers)), self.search_modes):
            axes = by_mode[mode].axes
            # An engine that does not cut the corpus is one configuration for all chunkers.
            if number and "chunker" not in axes:
                continue
            chunker = self.chunkers[number] if "chunker" in axes else None
            tuned = [getattr(self, name) if name in axes else (None,) for name in TUNED]
            combined = product(
                self._models(axes),
                self._fusions(axes),
                product(*tuned),
                self.top_k_values,
                rerankers,
                self.score_thresholds,
            )
            for model, (fusion, rrf_k), options, top_k, (reranker, depth), threshold in combined:
                yield _Choice(
                    search_mode=mode,
                    chunker=chunker,
                    model=model,
                    fusion=fusion,
                    rrf_k=rrf_k,
                    tuned=options,
                    top_k=top_k,
                    reranker=reranker,
                    rerank_depth=depth,
                    score_threshold=threshold,
                )

    def _models(self, axes: frozenset[str]) -> Sequence[str | None]:
        if "model" in axes:
            return self.models
        of_mode = (getattr(self, key) for key, axis in OF_MODE.items() if axis in axes)
        return next(of_mode, (None,))

    def _fusion(self) -> tuple[str, ...]:
        """Return the fusions; a matrix that only names constants of one means that one."""
        return self.fusion or ((RRF,) if self.rrf_k_values else (DEFAULT_FUSION,))

    def _fusions(self, axes: frozenset[str]) -> Iterator[tuple[str | None, int | None]]:
        """Yield each fusion with its constant, which only reciprocal rank fusion has."""
        if "rrf_k" not in axes:
            yield None, None
            return
        for fusion in self._fusion() if "fusion" in axes else (RRF,):
            for constant in (self.rrf_k_values or (int(RRF_K),)) if fusion == RRF else (None,):
                yield fusion, constant

    def _configuration(self, choice: _Choice) -> Configuration:
        options = {
            "search_mode": choice.search_mode,
            "use_reranker": choice.reranker is not None,
            "top_k": choice.top_k,
            "score_threshold": choice.score_threshold,
        }
        used = {
            "chunker": choice.chunker,
            "rrf_k": choice.rrf_k,
            "model": choice.model,
            "reranker": choice.reranker,
            "rerank_depth": choice.rerank_depth,
            **dict(zip(TUNED, choice.tuned, strict=True)),
        }
        # The constant says that it is rrf.
        if len(self.fusion) > 1 or choice.fusion != RRF:
            used["fusion"] = choice.fusion
        options |= {name: value for name, value in used.items() if value is not None}
        threshold = choice.score_threshold or 0.0
        spec = _spec(self._without_aliases(choice))
        return Configuration(self._name(choice), spec, choice.top_k, threshold, options)

    def _without_aliases(self, choice: _Choice) -> _Choice:
        """Return *choice* with the models that its names stand for."""
        tuned = zip(TUNED, choice.tuned, strict=True)
        return choice._replace(
            model=self._one("models", choice.model),
            reranker=self._one("rerankers", choice.reranker),
            tuned=tuple(self._meant(name, [value])[0] for name, value in tuned),
        )

    def _one(self, axis: str, value: str | None) -> str | None:
        return None if value is None else self.aliases.get(axis, {}).get(value, value)

    def _engine_configurations(self) -> Iterator[Configuration]:
        for name, spec in self.engines.items():
            axes = self._own_axes(spec)
            for values, k in product(product(*axes.values()), self.top_k_values):
                given = dict(zip(axes, values, strict=True))
                own, parts = spec, [name]
                for axis, value in given.items():
                    own = with_parameter(own, axis, self._meant(axis, [value])[0])
                    if len(axes[axis]) > 1:
                        parts.append(f"{axis}={value_text(value)}")
                options = {"engine": name, "top_k": k, **given}
                yield Configuration(" ".join((*parts, f"@{k}")), own, k, options=options)

    def _own_axes(self, spec: Spec) -> dict[str, list[object]]:
        """Return the parameters that the engine *spec* takes, with their values.

        The value that it has already comes first: its first configuration is the baseline.
        """
        axes: dict[str, list[object]] = {}
        for name, values in self.parameters.items():
            if takes_parameter(spec, name):
                current = value_text(parameter_value(spec, name))
                meant = dict(zip(values, self._meant(name, values), strict=True))
                axes[name] = sorted(values, key=lambda one: value_text(meant[one]) != current)
        return axes

    def _name(self, choice: _Choice) -> str:
        """Return the mode, and the values that differ between configurations."""
        parts = [choice.search_mode]
        if choice.rrf_k and len(self.rrf_k_values) > 1:
            parts.append(f"rrf{choice.rrf_k}")
        elif choice.fusion and len(self.fusion) > 1:
            parts.append(choice.fusion)
        for name, value in zip(TUNED, choice.tuned, strict=True):
            if value is not None and len(values := getattr(self, name)) > 1:
                text = _context_name(value, values) if name == "context" else str(value).lower()
                parts.append(f"{name}={text}")
        if choice.chunker and len(self.chunkers) > 1:
            parts.append(choice.chunker)
        if choice.model and len(self._models(modes()[choice.search_mode].axes)) > 1:
            parts.append(choice.model)
        if choice.reranker:
            parts.append(f"+{choice.reranker if len(self.rerankers) > 1 else 'rerank'}")
            if choice.rerank_depth and len(self.rerank_depth) > 1:
                parts.append(f"depth={choice.rerank_depth}")
        parts.append(f"@{choice.top_k}")
        if choice.score_threshold is not None:
            parts.append(f"≥{choice.score_threshold}")
        return " ".join(parts)


def _context_name(value: object, values: Iterable[object]) -> str:
    """Return the model of a context, without address and options if those are not needed.

    >>> local = "http://localhost:8000/v1#qwen?budget=2"
    >>> _context_name(local, [None, local]), _context_name(local, [local, f"{local}&price=0,0"])
    ('qwen', 'http://localhost:8000/v1#qwen?budget=2')
    """

    def model(one: object) -> str:
        return str(one).partition("?")[0].rpartition("#")[2]

    alike = sum(model(one) == model(value) for one in values)
    return model(value) if alike == 1 else str(value)


def _spec(choice: _Choice) -> Spec:
    """Return the engine of *choice*; defaults are left out."""
    info = modes()[choice.search_mode]
    engine = info.name
    params: dict[str, object] = {}
    if choice.fusion not in (None, DEFAULT_FUSION):
        params["fusion"] = choice.fusion
    if choice.rrf_k is not None:
        params["rrf_k"] = choice.rrf_k
    tuned = zip(TUNED, choice.tuned, strict=True)
    params |= {name: value for name, value in tuned if value is not None}
    if choice.model is not None and "model" not in info.axes:
        params["model"] = choice.model
    elif choice.model is not None and (model := embedder_named(choice.model)) != DEFAULT_EMBEDDER:
        params["model"] = model
    if choice.chunker not in (None, "auto"):
        params["chunker"] = choice.chunker
    if choice.reranker is None:
        return Spec("engine", engine, params)
    outer: dict[str, object] = {"over": {"engine": engine, **params}}
    if choice.reranker != DEFAULT_RERANKER:
        outer["model"] = choice.reranker
    if choice.rerank_depth is not None:
        outer["depth"] = choice.rerank_depth
    return Spec("engine", "rerank", outer)
