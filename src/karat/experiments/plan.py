"""Which configurations share a search, an index or a ranking, so that nothing is done twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.engines.engine_group import shareable
from karat.engines.registry import COMPONENTS, ENGINES, Component
from karat.engines.spec import parse_spec
from karat.errors import InputError, LimitExceeded
from karat.experiments.workers import Configuration
from karat.model.columns import repeated
from karat.model.spec import Spec

__all__ = [
    "MANY",
    "MOST",
    "SearchCounts",
    "SearchGroups",
    "SharedSearch",
    "check_configurations",
    "check_count",
    "group_searches",
    "shares_nothing",
]

# The number of configurations that gives a warning, and the number that needs permission.
MANY, MOST = 25, 50


def check_configurations(configurations: Sequence[Configuration]) -> None:
    """Reject an empty list, and names that two configurations share."""
    if not configurations:
        raise InputError("no configuration; expected one or more")
    if twice := repeated(one.name for one in configurations):
        raise InputError(f"several configurations have the same name: {', '.join(twice)}")


def check_count(configurations: Sequence[Configuration], *, allowed: int = MOST) -> str:
    """Return a warning about many *configurations*, "" for few; reject more than *allowed*."""
    count = len(configurations)
    if count > allowed:
        raise LimitExceeded(
            f"{count} configurations, at most {allowed} are allowed; remove some values, or "
            "allow more"
        )
    if count <= MANY:
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
        found = []
        if searches < configurations:
            found.append(
                f"{configurations} configurations need only {_several(searches, 'search')} per "
                "query; smaller depths reuse the deepest one"
            )
        if rankings < searches or indexes < searches:
            found.append(
                f"for {_several(searches, 'search')} Karat builds {_several(indexes, 'index')} and "
                f"computes {_several(rankings, 'ranking')} per query"
            )
        if models and searches > 1:
            found.append(f"each chunk and each query is embedded once by {', '.join(models)}")
        return tuple(found)


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
