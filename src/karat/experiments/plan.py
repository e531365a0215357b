"""Requests and their plans: configurations, and which share a search, an index or a ranking."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from inspect import signature
from random import Random
from shlex import quote
from typing import NamedTuple

from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.engines.embedding.base import PACKAGED, embedder_named, missing_modules
from karat.engines.engine_group import shareable
from karat.engines.registry import COMPONENTS, ENGINES, Component
from karat.engines.spec import FILES, build, name_in_file, parse_spec, spec_text
from karat.errors import EngineError, InputError, LimitExceeded, MissingExtra, UnknownName
from karat.experiments.store.base import ExperimentKind
from karat.experiments.target_check import Where
from karat.experiments.workers import Configuration, RunSettings
from karat.model import Dataset
from karat.model.frozen import repeated
from karat.model.spec import Spec
from karat.scoring.matching.modes import MATCHERS, files_judged
from karat.scoring.settings import Scoring
from karat.system.words import number_duplicates

DEPTH = 100
# The number of configurations that gives a warning, and the number that needs permission.
MANY_CONFIGURATIONS, MOST_CONFIGURATIONS = 25, 50


def engine_configurations(
    engines: Sequence[str | Mapping[str, object]], *, k: int = DEPTH
) -> tuple[Configuration, ...]:
    """Return one configuration of *k* hits for each of *engines*, each with a name of its own.

    Each engine is built once, so that an unknown option is rejected before anything runs. A class
    whose constructor fails costs only its own run.

    >>> configurations = engine_configurations(["bm25", "bm25(k1=1.2)", {"engine": "bm25"}])
    >>> [one.name for one in configurations]
    ['bm25-1', 'bm25(k1=1.2)', 'bm25-3']
    """
    if not engines:
        raise InputError("no engine to evaluate; expected one or more")
    return configurations_of([parse_engine(engine) for engine in engines], k)


def request_depth(k: int | None, scoring: Scoring, gold: Dataset) -> int:
    """Return the number of hits to request: *k*, or 100, or the deepest cut-off of a measure.

    A measure with a deeper cut-off than *k* is rejected.
    """
    cuts = {str(measure): measure.k or 0 for measure in scoring.parsed(gold)}
    if k is None:
        return max(DEPTH, *cuts.values())
    for name, cut in cuts.items():
        if cut > k:
            raise InputError(f"{name} needs {cut} hits per query; use -k {cut} or more")
    return k


def check_installed(configurations: Iterable[Configuration]) -> None:
    """Raise MissingExtra if an engine or its embedding model needs an extra that is absent."""
    for spec in {one.spec.digest: one.spec for one in configurations}.values():
        _check_spec(spec)


def _check_spec(spec: Spec) -> None:
    info = ENGINES.find(spec.name)
    if info and info.extra and info.package and find_spec(info.package) is None:
        raise MissingExtra(info.package, extra=info.extra, purpose=f"the engine {spec.name}")
    model = str(spec.params.get("model") or "")
    if model in PACKAGED and (missing := missing_modules(model)):
        raise MissingExtra(missing[0], extra="dense", purpose=f"the model {model}")
    over = spec.params.get("over")
    if isinstance(over, str | Mapping):
        _check_spec(parse_spec(over))


def is_deterministic(spec: Spec) -> bool:
    """Return whether *spec* is a built-in engine, which returns the same hits every time.

    >>> [is_deterministic(parse_spec(spec)) for spec in ("rerank(over=bm25)", "json:loads")]
    [True, False]
    """
    if not ENGINES.is_own(spec.name):
        return False
    over = spec.params.get("over")
    return is_deterministic(parse_spec(over)) if isinstance(over, str | Mapping) else True


def engine_text(name: str, spec: Spec, *, unit: str, threshold: float = 0.0) -> str:
    """Return what ``-e`` takes for the engine of the run *name*.

    *unit* is that of the gold set, which an experiment adds to *spec*. "" if *name* is that text
    already, and for engines from elsewhere: their options may be secret.

    >>> spec = Spec("engine", "bm25", {"k1": 2.0, "unit": "file"})
    >>> engine_text("sparse k1=2.0 @10", spec, unit="file", threshold=0.5)
    'bm25(k1=2.0, threshold=0.5)'
    >>> engine_text("bm25", Spec("engine", "bm25", {"unit": "lines"}), unit="lines")
    ''
    """
    spec = Spec(spec.kind, spec.name, _without_unit(spec.params, unit))
    with suppress(InputError, MissingExtra):
        typed = parse_spec(name)
        if not threshold and (typed.name, _without_unit(typed.params, unit)) == (
            spec.name,
            spec.params,
        ):
            return ""
    if not is_deterministic(spec):
        return ""
    if threshold:
        if not has_threshold(spec):
            return ""
        spec = Spec(spec.kind, spec.name, {**spec.params, "threshold": threshold})
    return spec_text(spec)


def has_threshold(spec: Spec) -> bool:
    """Return whether the option ``threshold`` of an engine does what that of a run does.

    A reranker applies its own to other scores.
    """
    info = ENGINES.find(spec.name)
    return info is not None and info.shares == "chunks"


def _without_unit(params: Mapping[str, object], unit: str) -> dict[str, object]:
    others = {name: value for name, value in params.items() if (name, value) != ("unit", unit)}
    if isinstance(over := others.get("over"), Mapping):
        others["over"] = _without_unit(over, unit)
    return others


def agent_classes() -> dict[str, str]:
    """Return the engine of each class name that configurations of code search agents use."""
    infos = filter(None, map(ENGINES.find, ENGINES))
    return {info.agent_class: info.name for info in infos if info.agent_class}


def agent_names() -> dict[str, str]:
    """Return the engine of each agent name that needs no configuration.

    >>> agent_names()["keyword_search"]
    'keyword'
    """
    infos = filter(None, map(ENGINES.find, ENGINES))
    return {info.agent_name: info.name for info in infos if info.agent_name}


TOP_K = "top_k"


@dataclass(frozen=True, slots=True)
class Agent:
    """An engine with the *name* of its run, and *k* if the configuration file sets it."""

    name: str
    spec: Spec
    k: int | None = None

    def configuration(self, k: int = DEPTH) -> Configuration:
        """Return its configuration, with *k* hits if it does not set their number."""
        options = {"engine": self.spec.name, **self.spec.params}
        return Configuration(self.name, self.spec, self.k or k, options=options)


def parse_engine(engine: str | Mapping[str, object]) -> Agent:
    """Return *engine*, which is built once, under the text that was typed for it.

    A file goes by the ``name`` in it, and JSON and a file without one by the name of the engine.
    """
    spec = parse_spec(engine)
    named = isinstance(engine, str) and engine.endswith(FILES) and ENGINES.is_own(spec.name)
    try:
        name = build(spec).name
        if named:
            name = name_in_file(str(engine)) or name
    except EngineError:
        name = str(spec.params.get("name") or spec.name)
    typed = isinstance(engine, str) and not engine.endswith(FILES) and not engine.startswith("{")
    return Agent(str(engine) if typed else name, spec)


def configurations_of(agents: Iterable[Agent], k: int) -> tuple[Configuration, ...]:
    """Return a configuration for each of *agents*, with *k* hits per query and distinct names."""
    configurations = [agent.configuration(k) for agent in agents]
    names = number_duplicates([configuration.name for configuration in configurations])
    return tuple(replace(each, name=name) for each, name in zip(configurations, names, strict=True))


def parse_agent(name: str, target: str, config: Mapping[str, object]) -> Agent:
    """Return the agent called *name*: an engine, one of agent_classes(), or ``module:Class``.

    *config* holds its options. ``top_k`` is the number of hits, and ``model`` may be the name of a
    model on the hub; a class of the user gets all options unchanged. All options that cannot be
    applied are reported at once.

    >>> config = {"case_sensitive": "false", "top_k": "5"}
    >>> agent = parse_agent("words", "KeywordSearchAgent", config)
    >>> agent.spec.name, dict(agent.spec.params), agent.k
    ('keyword', {'case_sensitive': 'false'}, 5)
    """
    options = dict(config)
    k = None
    wrong: list[str] = []
    if ":" not in target:
        with _noting(wrong):
            k = _depth(options.pop(TOP_K, None))
        if isinstance(options.get("model"), str):
            with _noting(wrong):
                options["model"] = embedder_named(str(options.pop("model")))
    elif "(" not in target:
        options = {"class": target, "options": options}
        target = "python"
    classes = agent_classes()
    try:
        base = parse_spec(classes.get(target, target))
    except UnknownName as error:
        raise UnknownName(f"{error}; agents are {', '.join(classes)}, or module:Class") from None
    spec = Spec(base.kind, base.name, {**base.params, **options})
    # A class whose constructor fails costs only its own run.
    with _noting(wrong), suppress(EngineError):
        build(spec)
    if wrong:
        raise InputError("\n".join(wrong))
    return Agent(name, spec, k)


@contextmanager
def _noting(wrong: list[str]) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        wrong.append(str(error))


def _depth(given: object) -> int | None:
    if given is None:
        return None
    if isinstance(given, str) and given.isascii() and given.isdigit() and int(given) > 0:
        return int(given)
    raise InputError(f"{TOP_K} {given!r} is not a whole number above 0")


def check_configurations(configurations: Sequence[Configuration]) -> None:
    """Reject an empty list, and names that two configurations share."""
    if not configurations:
        raise InputError("no configuration; expected one or more")
    if twice := repeated(one.name for one in configurations):
        raise InputError(f"several configurations have the same name: {', '.join(twice)}")


def check_count(
    configurations: Sequence[Configuration],
    *,
    allowed: int = MOST_CONFIGURATIONS,
    timed: int | None = None,
) -> str:
    """Return a warning about the latency of many *configurations*; reject more than *allowed*.

    *timed* queries of each are timed, None for all; without any there is no warning.
    """
    count = len(configurations)
    if count > allowed:
        raise LimitExceeded(
            f"{count} configurations, at most {allowed} are allowed; remove some values, or "
            "allow more"
        )
    if count <= MANY_CONFIGURATIONS or timed == 0:
        return ""
    return f"{count} configurations may take long; --timed none skips measuring their latency"


class SharedSearch(NamedTuple):
    """One search of each query, at the depth of *search*, that serves several *configurations*.

    The hits of each configuration are a beginning of the hits of the search.
    """

    search: Configuration
    configurations: tuple[Configuration, ...]


def shares_nothing(group: Sequence[SharedSearch]) -> bool:
    """Return whether *group* is one engine for one configuration.

    Its timed queries are not searched twice: the timing pass returns their hits too.
    """
    return len(group) == 1 and len(group[0].configurations) == 1


class SearchCounts(NamedTuple):
    """The amount of work: searches and rankings for each query, indexes for each snapshot.

    A ranking comes from one component and is used by all searches with that component; *models*
    embed each chunk and each query once.
    """

    configurations: int
    searches: int
    rankings: int
    indexes: int
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchGroups:
    """The searches for *configurations*; the engines of one group run in the same processes."""

    configurations: tuple[Configuration, ...]
    groups: tuple[tuple[SharedSearch, ...], ...]

    @property
    def counts(self) -> SearchCounts:
        """Return the amount of work for all configurations."""
        specs = [one.search.spec for group in self.groups for one in group]
        rankings = {part for spec in specs for part in _rankings(spec)}
        models = [model for spec in specs for model in _models(spec)]
        return SearchCounts(
            len(self.configurations),
            len(specs),
            len(rankings),
            len(self.groups),
            tuple(dict.fromkeys(models)),
        )

    def lines(self) -> tuple[str, ...]:
        """Return sentences about shared work; none where nothing is shared."""
        configurations, searches, rankings, indexes, models = self.counts
        lines = []
        if searches < configurations:
            lines.append(
                f"{configurations} configurations need only {_several(searches, 'search')} per "
                "query; smaller depths reuse the deepest one"
            )
        if rankings < searches or indexes < searches:
            lines.append(
                f"for {_several(searches, 'search')} Karat builds {_several(indexes, 'index')} and "
                f"computes {_several(rankings, 'ranking')} per query"
            )
        if models and searches > 1:
            lines.append(f"each chunk and each query is embedded once by {', '.join(models)}")
        return tuple(lines)


def group_searches(configurations: Sequence[Configuration], *, files: bool) -> SearchGroups:
    """Return the fewest searches that serve all *configurations*; with *files*, k counts files.

    Engines that can share an index form one group. Configurations of one engine share a search at
    the greatest depth if fewer hits are always the beginning of more hits. That is known of
    built-in engines only; any other engine searches once for each depth.
    """
    check_configurations(configurations)
    families: dict[object, dict[tuple[Spec, int], list[Configuration]]] = {}
    for one in configurations:
        family = shareable(one.spec)
        alike = (one.spec, 0 if family else one.k)
        families.setdefault(family or alike, {}).setdefault(alike, []).append(one)
    groups = [
        tuple(_shared_search(same, files=files) for same in group.values())
        for group in families.values()
    ]
    return SearchGroups(tuple(configurations), tuple(groups))


def _shared_search(configurations: Sequence[Configuration], *, files: bool) -> SharedSearch:
    first = configurations[0]
    deepest = max(one.k for one in configurations)
    search = Configuration(first.name, first.spec, deepest, files=files)
    return SharedSearch(search, tuple(configurations))


def _rankings(spec: Spec) -> Iterator[tuple[object, ...]]:
    """Yield a key for each ranking of chunks that *spec* combines; equal keys share a ranking."""
    inner = _reranked(spec)
    family = shareable(inner)
    if not family:
        yield (spec,)
    elif not _components(inner):
        yield (inner,)
    for component in _components(inner) if family else ():
        names = COMPONENTS[component]
        yield (family, component, *((name, str(inner.params.get(name))) for name in names))


def _components(spec: Spec) -> tuple[Component, ...]:
    info = ENGINES.find(spec.name)
    return info.components if info else ()


def _models(spec: Spec) -> Iterator[str]:
    inner = _reranked(spec)
    if "dense" in _components(inner):
        yield str(inner.params.get("model", DEFAULT_EMBEDDER))


def _reranked(spec: Spec) -> Spec:
    """Return the engine below a reranker, or *spec* itself."""
    info = ENGINES.find(spec.name)
    if info is None or info.shares != "reranked":
        return spec
    over = spec.params.get("over", "bm25")
    return parse_spec(over if isinstance(over, Mapping) else str(over))


def _several(count: int, thing: str) -> str:
    plural = {"index": "indexes", "search": "searches"}.get(thing, f"{thing}s")
    return f"{count} {thing if count == 1 else plural}"


class JudgedUnits(NamedTuple):
    """The units that the queries of a gold set judge: whole files, or parts of files.

    *files* says whether any query judges whole files; *parts* holds the ids of the queries that
    judge parts of files in such a set. *most* is the unit of most queries, ``file`` or ``lines``.
    """

    files: bool
    parts: frozenset[str]
    most: str


def judged_units(gold: Dataset, match: str) -> JudgedUnits:
    """Return the units of *gold*; queries without a target do not count.

    An engine has one unit for all queries. Where some have targets with lines and others whole
    files, it is ``lines`` only if more than half of the judged queries have a target with lines:
    one such query does not turn a set of files into a set of lines. An even split is ``file``;
    design/0004-order-of-code.md has the figures.

    >>> from karat.model import Query, Target
    >>> files = [Query(str(number), "login", (Target("auth.py"),)) for number in range(2)]
    >>> lines = Query("lines", "login", (Target("auth.py", start_line=3, end_line=9),))
    >>> judged_units(Dataset.of([*files, lines]), "lines")
    JudgedUnits(files=True, parts=frozenset({'lines'}), most='file')
    >>> judged_units(Dataset.of([lines]), "lines").most
    'lines'
    """
    by_file = {
        query_id: is_file
        for row, (query_id, is_file) in enumerate(
            zip(gold.query_ids, files_judged(gold, match), strict=True)
        )
        if gold.targets(row)
    }
    if not by_file:
        collapse = MATCHERS.get(match)().collapse
        return JudgedUnits(collapse, frozenset(), "file" if collapse else "lines")
    files = sum(by_file.values())
    parts = frozenset(query_id for query_id, is_file in by_file.items() if not is_file)
    most = "file" if 2 * files >= len(by_file) else "lines"
    return JudgedUnits(files > 0, parts if files else frozenset(), most)


def engine_options(name: str, engine: Spec, *, unit: str, k: int, threshold: float) -> str:
    """Return ``-e 'bm25(k1=2.0)' -k 10`` for the run *name*, "" if its name is an engine."""
    text = engine_text(name, engine, unit=unit, threshold=threshold)
    depth = f" -k {k}" if k not in (0, DEPTH) else ""
    return f"-e {quote(text)}{depth}" if text else ""


def with_unit(spec: Spec, unit: str) -> Spec:
    """Return *spec* with the *unit* that is judged, where the engine takes one and has none.

    >>> with_unit(parse_spec("bm25(k1=1.2)"), "file").params
    {'k1': '1.2', 'unit': 'file'}
    >>> with_unit(parse_spec("rerank(over=bm25(unit=lines))"), "file").params
    {'over': {'engine': 'bm25', 'unit': 'lines'}}
    """
    info = ENGINES.find(spec.name)
    if spec.name not in ENGINES.built_in() and not (info and info.shares):
        return spec
    takes = signature(ENGINES.get(spec.name)).parameters
    params = dict(spec.params)
    if "unit" in takes:
        params.setdefault("unit", unit)
    over = params.get("over", takes["over"].default) if "over" in takes else None
    if isinstance(over, str | Mapping):
        inner = with_unit(parse_spec(over), unit)
        params["over"] = {"engine": inner.name, **inner.params}
    return Spec(spec.kind, spec.name, params)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRequest:
    """Everything that decides an experiment, and the number of *workers* that run it.

    *timed* is the number of timed queries: None times all of them, 0 none. The same request finds
    its earlier results in the store; *scoring* and *workers* may differ. Without *wait*, latency is
    measured even while other karat runs disturb it. With *scores_first*, every run has its scores
    before any latency is measured; an engine that shares nothing then runs timed queries twice.
    *timed_on* is the slot of the executor that measures latency, "" for this machine. *sample_of*
    is the number of queries that *gold* was drawn from, 0 if it is whole.
    """

    gold: Dataset
    configurations: tuple[Configuration, ...]
    where: Where
    kind: ExperimentKind
    name: str = ""
    scoring: Scoring = field(default_factory=Scoring)
    settings: RunSettings = field(default_factory=RunSettings)
    timed: int | None = None
    workers: int = 1
    seed: int = 0
    wait: bool = True
    scores_first: bool = False
    timed_on: str = ""
    sample_of: int = 0

    @property
    def match(self) -> str:
        """Return how hits are matched with targets."""
        return self.scoring.match or self.gold.match

    @property
    def units(self) -> JudgedUnits:
        """Return what the queries judge: whole files, or parts of them."""
        return judged_units(self.gold, self.match)


class ExperimentPlan(NamedTuple):
    """The searches that a request needs, known before anything runs.

    *units* are those that the queries judge; *timed* holds the ids of the timed queries, of all
    *queries* of the gold set. With *one_worker*, two processes cannot share the index of an engine.
    """

    searches: SearchGroups
    units: JudgedUnits
    queries: int
    timed: frozenset[str]
    warnings: tuple[str, ...] = ()
    one_worker: bool = False

    @property
    def untimed(self) -> dict[str, int]:
        """Return how many queries of each run are searched before latency is measured."""
        rest = self.queries - len(self.timed)
        return {
            one.name: rest if shares_nothing(group) else self.queries
            for group in self.searches.groups
            for shared in group
            for one in shared.configurations
        }


def plan_experiment(
    request: ExperimentRequest, *, allowed: int | None = MOST_CONFIGURATIONS
) -> ExperimentPlan:
    """Return the plan of *request*; nothing is read or started.

    More than *allowed* configurations raise LimitExceeded; None allows any number.
    """
    units = request.units
    configurations = [
        replace(one, spec=with_unit(one.spec, units.most)) for one in request.configurations
    ]
    warnings = []
    if allowed is not None:
        warnings.append(check_count(configurations, allowed=allowed, timed=request.timed))
    if store := _unshared_store(configurations):
        warnings.append(f"one worker, because one process at a time can open {store}")
    return ExperimentPlan(
        group_searches(configurations, files=units.files),
        units,
        len(request.gold),
        choose_timed(request.gold, request.timed, seed=request.seed),
        tuple(filter(None, warnings)),
        one_worker=bool(store),
    )


def _unshared_store(configurations: Sequence[Configuration]) -> str:
    """Return the first store that only one process at a time can open, "" without any."""
    if not any("store" in one.spec.params or "over" in one.spec.params for one in configurations):
        return ""
    from karat.engines.stored_vectors import unshared_store

    return next(filter(None, (unshared_store(one.spec) for one in configurations)), "")


def choose_timed(dataset: Dataset, count: int | None, *, seed: int) -> frozenset[str]:
    """Return the ids of *count* queries drawn by *seed*; None takes all."""
    ids = dataset.query_ids
    if count is None or count >= len(ids):
        return frozenset(ids)
    return frozenset(Random(f"{seed} timed").sample(ids, count))
