"""A matrix of settings: every combination that makes a difference is one configuration."""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from karat.corpus import create_chunker
from karat.engines.context import check_context
from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.engines.embedding.base import check_model, embedder_named
from karat.engines.fusion import DEFAULT_FUSION, RRF, RRF_K, check_fusion
from karat.engines.registry import modes
from karat.engines.rerank import DEFAULT_RERANKER, check_reranker
from karat.engines.sparse import check_sparse_encoder
from karat.engines.spec import FILES, expand_here
from karat.errors import EngineError, InputError, MissingExtra, UnknownName
from karat.experiments.plan import engine_configurations, parse_agent
from karat.experiments.workers import Configuration
from karat.formats.base import DEFAULT, ReadLimits
from karat.formats.fields import Checker, Location, Record, find_section
from karat.formats.jsontext import SWITCH, load_json, load_yaml
from karat.model.spec import Spec

KEYS = ("name", "chunk_size", "embedding_model", "use_reranker", "reranker_model")


class SuiteConfig(NamedTuple):
    """One configuration; an empty *reranker_model* means the default one."""

    name: str
    chunk_size: int
    embedding_model: str
    use_reranker: bool
    reranker_model: str = ""


def read_suites(
    path: str | os.PathLike[str], *, limits: ReadLimits = DEFAULT
) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the configurations of every suite in *path*; an unknown key is an error.

    The suites stand there alone, or in the section ``suites`` of a configuration file.
    """
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    suites = parse_suites(check, *find_section(check, check.record(value, ()), "suites"))
    check.finish()
    if not suites:
        raise InputError(f"{os.fspath(path)}: no suite; expected suite_name: [{{name, ...}}]")
    return suites


def parse_suites(
    check: Checker, location: Location, section: Record
) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the suites of a *section* at *location*; problems are added to *check*."""
    suites: dict[str, tuple[SuiteConfig, ...]] = {}
    for name, items in section.items():
        rows = list(check.rows(items, (*location, name), filled=True))
        configs = tuple(_config(check, check.record(item, at), at) for at, item in rows)
        check.unique(((at, c.name) for (at, _), c in zip(rows, configs, strict=True)), "name")
        suites[name] = configs
    return suites


def _config(check: Checker, row: Record, location: Location) -> SuiteConfig:
    check.known(row, KEYS, location, list_keys=True)
    size = check.text(row, "chunk_size", location)
    if size and not (size.isascii() and size.isdigit() and int(size) > 0):
        check.add((*location, "chunk_size"), f"{size!r} is not a whole number above 0")
        size = ""
    switch = check.text(row, "use_reranker", location)
    if switch and switch.lower() not in SWITCH:
        check.add((*location, "use_reranker"), f"{switch!r} is neither true nor false")
    return SuiteConfig(
        check.text(row, "name", location),
        int(size or 1),
        check.text(row, "embedding_model", location),
        SWITCH.get(switch.lower(), False),
        check.text(row, "reranker_model", location, default=""),
    )


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
    *k_values_for_metrics* say what is measured. *engines* are further engines by their names, of
    which nothing but the depth is combined; with some of them there may be no mode. A model may
    have the name that the hub gives it. *aliases* are short names of the values of an axis, which
    is ``models``, ``rerankers`` or ``context``: configurations show the alias and use what it
    stands for.

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
        return sum(1 for _ in self._choices()) + len(self.engines) * len(self.top_k_values)

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
        for (name, spec), k in product(self.engines.items(), self.top_k_values):
            yield Configuration(f"{name} @{k}", spec, k, options={"engine": name, "top_k": k})

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


BELOW = "config_matrix"


# Axes of names that a service defines, which only the service can check.
NAMED_BY_SERVICE = frozenset({"models", "rerankers", "context"})


def read_matrix(path: str | os.PathLike[str], *, limits: ReadLimits = DEFAULT) -> Matrix:
    """Return the matrix in *path*.

    It stands there alone, below ``config_matrix``, or in the section ``matrix`` of a configuration
    file. A single value stands for a list of one. All problems are reported at once, with lines.
    """
    file = _read_file(path, limits)
    engines = _engines(file, Path(path).parent)
    file.check.finish()
    axes = file.axes
    alone = {key: values[0] for key, values in axes.items() if key in SINGLE}
    if engines:
        axes = {"search_modes": (), **axes}
    return Matrix(**axes | alone, engines=engines)  # type: ignore[arg-type]


def read_service_matrix(
    path: str | os.PathLike[str], *, limits: ReadLimits = DEFAULT
) -> dict[str, object]:
    """Return the matrix in *path* as the API of a service takes it.

    ``engines``, ``models``, ``rerankers`` and ``context`` are names of the service, which checks
    them. All other problems are reported at once, with lines.
    """
    file = _read_file(path, limits, unchecked=NAMED_BY_SERVICE)
    named, location = file.matrix.get(ENGINES_KEY) or [], (*file.location, ENGINES_KEY)
    engines = _values(file.check, named, location, _word, checked=False)
    file.check.finish()
    axes: dict[str, object] = {
        key: values[0] if key in SINGLE else list(values) for key, values in file.axes.items()
    }
    axes.setdefault("search_modes", [] if engines else list(Matrix().search_modes))
    return axes | ({ENGINES_KEY: list(engines)} if engines else {})


class _MatrixFile(NamedTuple):
    """The *matrix* of a file at *location*, its parsed *axes*, and the *whole* file."""

    check: Checker
    location: Location
    matrix: Record
    whole: Record
    axes: dict[str, tuple[object, ...]]


def _read_file(
    path: str | os.PathLike[str], limits: ReadLimits, unchecked: Container[str] = ()
) -> _MatrixFile:
    """Return the matrix in *path*; the values of *unchecked* axes are only parsed."""
    value, check = (
        load_json(path, limit=limits.yaml_bytes)
        if Path(path).suffix.lower() == ".json"
        else load_yaml(path, limit=limits.yaml_bytes)
    )
    top = whole = check.record(value, ())
    location: Location = ()
    if BELOW in top:
        check.known(top, (BELOW,), (), list_keys=True)
        location = (BELOW,)
        top = check.record(top[BELOW], location)
    else:
        location, top = find_section(check, top, "matrix")
    check_matrix_keys(check, top, location)
    axes = {
        key: _values(check, top[key], (*location, key), read, checked=key not in unchecked)
        for key, read in (AXES | SINGLE).items()
        if top.get(key) is not None
    }
    for key in ("rerankers", "rerank_depth"):
        if key in axes and not any(axes.get("use_reranker", ())):
            check.add((*location, key), "no run has a reranker; expected true in use_reranker")
    used = {
        axis
        for mode in axes.get("search_modes", ())
        if (info := modes().get(str(mode)))
        for axis in info.axes
    }
    if axes.get("rrf_k_values") and RRF not in axes.get("fusion", (RRF,)):
        check.add((*location, "rrf_k_values"), NO_RRF)
    for key in (*TUNED, "fusion", *OF_MODE):
        axis = OF_MODE.get(key, key)
        if key in axes and "search_modes" in axes and axis not in used:
            takers = [mode for mode, info in modes().items() if axis in info.axes]
            check.add(
                (*location, key), f"no search mode uses it; expected one of: {', '.join(takers)}"
            )
    return _MatrixFile(check, location, top, whole, axes)


def _engines(file: _MatrixFile, folder: Path) -> dict[str, Spec]:
    """Return the engines of the matrix in *file* by name; problems are added to its check.

    Each is the name of an engine in the section ``engines`` of the file, or anything that ``-e``
    takes: an engine with options, a profile, or a file, which is relative to *folder*.
    """
    check, given = file.check, file.matrix.get(ENGINES_KEY)
    if given is None:
        return {}
    section = file.whole.get("engines") or file.whole.get("agents") or ()
    known = {
        str(entry["name"]): entry
        for entry in (section if isinstance(section, list) else ())
        if isinstance(entry, Mapping) and "name" in entry
    }
    location = (*file.location, ENGINES_KEY)
    engines: dict[str, Spec] = {}
    for at, entry in (
        check.rows(given, location) if isinstance(given, list) else [(location, given)]
    ):
        try:
            name, spec = _engine(_word(entry), known, folder)
            if name in engines:
                raise InputError(f"{name!r} appears more than once")
            engines[name] = spec
        except (ValueError, InputError, MissingExtra, EngineError) as error:
            check.add(at, str(error))
    return engines


def _engine(text: str, known: Mapping[str, Record], folder: Path) -> tuple[str, Spec]:
    """Return the name and the specification of the engine that *text* names, built once."""
    if text in known:
        entry = known[text]
        config = entry.get("config") or {}
        agent = parse_agent(
            text,
            str(entry.get("engine") or entry.get("class") or ""),
            expand_here(config, folder) if isinstance(config, Mapping) else {},
        )
        return text, agent.spec
    is_file = text.lower().endswith(FILES)
    (one,) = engine_configurations([str(folder / text) if is_file else text])
    return (Path(text).stem if is_file else text), one.spec


def check_matrix_keys(check: Checker, matrix: Record, location: Location) -> None:
    """Add a problem for each unknown key of *matrix*."""
    check.known(matrix, (*AXES, *SINGLE, ENGINES_KEY), location, list_keys=True)


def _values(
    check: Checker,
    given: object,
    location: Location,
    read: Callable[[object], object],
    *,
    checked: bool = True,
) -> tuple[object, ...]:
    """Return one value or a list of them, parsed by *read*, without invalid ones.

    If they are not *checked*, names that are not known here are valid.
    """
    several = isinstance(given, list) and location[-1] not in SINGLE
    rows = check.rows(given, location) if several else [(location, given)]
    read_values: dict[Location, object] = {}
    for at, value in rows:
        try:
            read_values[at] = read(value)
        except ValueError as error:
            check.add(at, str(error))
    if checked and (read_values or given == []):
        locations = list(read_values)
        for number, message in axis_problems(str(location[-1]), tuple(read_values.values())):
            check.add(location if number is None else locations[number], message)
    return tuple(read_values.values())


# From JSON come numbers and truth values, from YAML their spelling.
def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise ValueError(f"{value!r} is not a whole number")


def _threshold_value(value: object) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise ValueError(f"{value!r} is not a number; expected 0 to 1, or null")


def _number(value: object) -> float | None:
    """Return a number; null is the default of the engine."""
    try:
        return _threshold_value(value)
    except ValueError:
        raise ValueError(
            f"{value!r} is not a number; expected one, or null for the default"
        ) from None


def _switch(value: object) -> bool:
    switch = value if isinstance(value, bool) else SWITCH.get(str(value).lower())
    if switch is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return switch


def _word(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError(f"{value!r} is not a name")


def _reranker_name(value: object) -> str:
    if value is None:
        raise ValueError(
            "null is not a reranker; use_reranker: [false, true] compares with and without one"
        )
    return _word(value)


def _optional_word(value: object) -> str | None:
    return None if value is None else _word(value)


def _search_mode(value: object) -> str:
    """Return the mode; that of the engine bm25 is called sparse."""
    name = _word(value)
    return "sparse" if name == "bm25" else name


AXES: dict[str, Callable[[object], object]] = {
    "search_modes": _search_mode,
    "use_reranker": _switch,
    "top_k_values": _whole,
    "rrf_k_values": _whole,
    "score_thresholds": _threshold_value,
    "chunkers": _word,
    "models": _word,
    "sparse_models": _word,
    "late_models": _word,
    "rerankers": _reranker_name,
    "fusion": _word,
    "dense_weight": _number,
    "k1": _number,
    "b": _number,
    "code_ranking": _switch,
    "context": _optional_word,
    "rerank_depth": _whole,
    "k_values_for_metrics": _whole,
}
SINGLE: dict[str, Callable[[object], object]] = {"primary_k": _whole}
ENGINES_KEY = "engines"


BUNDLED = Path(__file__).with_name("suites.yaml")


def suites(path: str | os.PathLike[str] = BUNDLED) -> Mapping[str, tuple[SuiteConfig, ...]]:
    """Return the suites in *path* by name."""
    return read_suites(path)


def suite(
    name: str, path: str | os.PathLike[str] = BUNDLED, *, k: int = 100
) -> tuple[Configuration, ...]:
    """Return the configurations of the suite *name*, each with *k* hits."""
    known = suites(path)
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        raise UnknownName(f"no suite named {name!r}; {hint}")
    configurations, wrong = [], []
    for config in known[name]:
        try:
            configurations.append(suite_configuration(config, k=k))
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))
    return tuple(configurations)


def suite_configuration(config: SuiteConfig, *, k: int = 100) -> Configuration:
    """Return the dense configuration that *config* describes.

    Chunks are windows of ``chunk_size`` words and signs. A chunk that is too long for the model is
    embedded in parts. All settings that cannot be applied are reported at once.
    """
    chunker, reranker = f"window:{config.chunk_size}", _reranker(config.reranker_model)
    named = {"models": config.embedding_model, "chunkers": chunker, "rerankers": reranker}
    wrong = [message for axis, name in named.items() for _, message in axis_problems(axis, (name,))]
    if config.reranker_model and not config.use_reranker:
        wrong.append(f"reranker_model {config.reranker_model!r} needs use_reranker: true")
    if wrong:
        raise InputError("\n".join(f"{config.name}: {message}" for message in wrong))
    model = embedder_named(config.embedding_model)
    spec = Spec("engine", "dense", {"model": model, "windows": "all", "chunker": chunker})
    if config.use_reranker:
        over = {"engine": spec.name, **spec.params}
        spec = Spec("engine", "rerank", {"over": over, "model": reranker})
    settings = config._asdict()
    name = settings.pop("name")
    options = {option: value for option, value in settings.items() if value != ""}
    return Configuration(name, spec, k, options=options)


def _reranker(model: str) -> str:
    """Return the name of a reranker: what the hub calls owner/model is a cross-encoder there."""
    return f"cross:{model}" if "/" in model and ":" not in model else model or DEFAULT_RERANKER
