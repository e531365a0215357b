"""The engines by name: one :class:`EngineInfo` says all that Karat knows about an engine.

Help, ``karat engines``, matrices, engine groups, the service and install hints read these records.
Adding an engine means adding one of them, here or in another distribution. An engine also says
whether its scores can have a threshold.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from karat.engines.base import Engine
from karat.errors import InputError
from karat.model.spec import Spec
from karat.registry import Registry

EngineFactory = Callable[..., Engine]
Component = Literal["lexical", "dense"]

# The options that decide the ranking of a component: engines that agree on them share its scores.
COMPONENTS: Mapping[Component, tuple[str, ...]] = {
    "lexical": ("k1", "b", "header"),
    "dense": ("model", "windows"),
}
# The axes of a matrix that an engine may take part in, besides the depth, the threshold and the
# reranker, which need nothing from the engine.
AXES = frozenset(
    {"chunker", "model", "rrf_k", "fusion", "dense_weight", "k1", "b", "code_ranking"}
    | {"sparse_model", "late_model", "context"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """All that Karat knows about an engine without loading it.

    *factory* makes the engine from keyword options: a class or function, or its
    ``module:attribute``, which is imported on first use. The first line of its docstring is the
    engine's *summary* where none is given. *package* is an import that the engine cannot work
    without, and *extra* the extra of Karat that installs it.

    An *adapter* only connects Karat to a search program from elsewhere. *shares* is ``chunks`` for
    a factory that returns a :class:`~karat.engines.chunked.ChunkEngine` with the options
    ``chunker`` and ``cache``: it shares chunks and models with others in its engine group. It is
    ``reranked`` for a reranker of the engine in its option ``over``.

    *mode* is the name of the engine among the ``search_modes`` of a matrix; *axes* are the axes
    that it takes part in, which become options of these names; ``sparse_model`` and ``late_model``
    become the option ``model``; ``rrf_k`` without ``fusion`` sets
    ``fusion=rrf``. *components* are the rankings that it is made of. *absolute_scores* says
    that scores of different queries can be compared, so that a threshold applies to the score
    itself and not to its share of the query's best score. *models* is a regular expression of the
    models that Karat's own distributions contain; any other comes from elsewhere. *agent_class*
    and *agent_name* are names that configurations of code search agents use for the engine.

    >>> EngineInfo(name="mine", factory="my_package:MyEngine", shares="chunk")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: engine 'mine': shares is 'chunk'; expected '', 'chunks' or 'reranked'
    """

    name: str
    factory: str | EngineFactory
    summary: str = ""
    package: str = ""
    extra: str = ""
    adapter: bool = False
    shares: Literal["", "chunks", "reranked"] = ""
    mode: str = ""
    axes: frozenset[str] = frozenset()
    components: tuple[Component, ...] = ()
    absolute_scores: bool = False
    models: str = ""
    agent_class: str = ""
    agent_name: str = ""

    def __post_init__(self) -> None:
        """Reject invalid values."""
        if not self.name or self.name != self.name.lower() or set(self.name) & set(":(){} "):
            raise InputError(
                f"engine {self.name!r}: expected a lower-case name without ':', brackets and blanks"
            )
        if self.shares not in ("", "chunks", "reranked"):
            raise InputError(
                f"engine {self.name!r}: shares is {self.shares!r}; "
                "expected '', 'chunks' or 'reranked'"
            )
        self._check("axes", self.axes, AXES)
        self._check("components", self.components, COMPONENTS)
        if self.axes and not self.mode:
            raise InputError(f"engine {self.name!r}: axes need a mode; expected mode=NAME")

    def _check(self, field: str, values: Any, known: Any) -> None:
        if unknown := sorted(set(values) - set(known)):
            raise InputError(
                f"engine {self.name!r}: {field} has {', '.join(map(repr, unknown))}; "
                f"expected some of {', '.join(sorted(known))}"
            )


PACKAGED_EMBEDDER = r"(granite|minilm|static)(:\d+)?"

BUILT_IN = (
    EngineInfo(
        name="bm25",
        factory="karat.engines.builtin:bm25",
        shares="chunks",
        mode="sparse",
        axes=frozenset({"chunker", "k1", "b", "code_ranking", "context"}),
        components=("lexical",),
    ),
    EngineInfo(
        name="dense",
        factory="karat.engines.builtin:dense",
        package="onnxruntime",
        extra="dense",
        shares="chunks",
        mode="dense",
        axes=frozenset({"chunker", "model", "code_ranking", "context"}),
        components=("dense",),
        absolute_scores=True,
        models=PACKAGED_EMBEDDER,
        agent_class="SemanticSearchAgent",
        agent_name="semantic_search",
    ),
    EngineInfo(
        name="hybrid",
        factory="karat.engines.builtin:hybrid",
        package="onnxruntime",
        extra="dense",
        shares="chunks",
        mode="hybrid",
        axes=AXES - {"sparse_model", "late_model"},
        components=("lexical", "dense"),
        models=PACKAGED_EMBEDDER,
        agent_class="HybridAgent",
    ),
    EngineInfo(
        name="keyword",
        factory="karat.engines.keyword:KeywordEngine",
        agent_class="KeywordSearchAgent",
        agent_name="keyword_search",
    ),
    EngineInfo(
        name="rerank",
        factory="karat.engines.rerank:rerank",
        package="onnxruntime",
        extra="dense",
        shares="reranked",
        absolute_scores=True,
        models=rf"(maxsim|late-interaction)(:{PACKAGED_EMBEDDER})?",
    ),
    EngineInfo(
        name="sparse",
        factory="karat.engines.builtin:sparse",
        shares="chunks",
        mode="splade",
        axes=frozenset({"chunker", "sparse_model", "context"}),
    ),
    EngineInfo(
        name="command", factory="karat.engines.adapters.command:CommandEngine", adapter=True
    ),
    EngineInfo(
        name="http",
        factory="karat.engines.adapters.http:HttpEngine",
        package="httpx",
        extra="http",
        adapter=True,
    ),
    EngineInfo(
        name="mcp",
        factory="karat.engines.adapters.mcp:McpEngine",
        package="mcp",
        extra="mcp",
        adapter=True,
    ),
    EngineInfo(
        name="process", factory="karat.engines.adapters.process:ProcessEngine", adapter=True
    ),
    EngineInfo(name="python", factory="karat.engines.adapters.python:python_engine", adapter=True),
)


class EngineRegistry(Registry[EngineFactory]):
    """The engines of the core, then those of extensions and of :func:`register`.

    An extension adds an :class:`EngineInfo`, or a class or function alone; ``module:attribute`` in
    place of a name may be either as well.
    """

    def __init__(self, built_in: tuple[EngineInfo, ...]) -> None:
        """List *built_in*; nothing is imported yet."""
        super().__init__("engine", {info.name: str(info.factory) for info in built_in})
        self._infos = {info.name: info for info in built_in}

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names: Karat's own engines, its adapters, then all others."""
        adapters = [name for name in self.core() if self._infos[name].adapter]
        own = [name for name in self.built_in() if name not in adapters]
        return iter(dict.fromkeys((*own, *adapters, *super().__iter__(), *self._infos)))

    def has(self, key: str) -> bool:
        """Return whether an engine is called *key*."""
        return key in self._infos or super().has(key)

    def info(self, name: str) -> EngineInfo:
        """Return the record of the engine called *name*, or of ``module:attribute``.

        An engine without a record of its own has one with its name and factory only.
        """
        key = name if ":" in name else self.canonical(name)
        if key in self._infos:
            return self._infos[key]
        loaded: object = super().get(key)
        if isinstance(loaded, EngineInfo):
            info = loaded
        else:
            plain = key.rpartition(":")[2].lower() or key
            info = EngineInfo(name=plain, factory=cast("EngineFactory", loaded))
        if ":" not in key:
            self._infos[key] = info
        return info

    def get(self, name: str) -> EngineFactory:
        """Return the factory of the engine called *name*, or of ``module:attribute``."""
        if ":" not in name and self.canonical(name) in self.core():
            return super().get(name)
        factory = self.info(name).factory
        return self.load(factory) if isinstance(factory, str) else factory

    def register(self, info: EngineInfo) -> None:
        """Add *info*; see :func:`register`."""
        if self.has(info.name):
            raise InputError(f"an engine named {info.name!r} exists already; choose another name")
        if info.mode and info.mode in modes():
            raise InputError(f"engine {info.name!r}: mode {info.mode!r} belongs to another engine")
        self._infos[info.name] = info

    def find(self, name: str) -> EngineInfo | None:
        """Return the record of the engine *name*; None if it is unknown or cannot be loaded.

        A ``module:attribute`` is not loaded and has no record.
        """
        if ":" in name or not self.has(name):
            return None
        try:
            return self.info(name)
        except (InputError, ImportError):
            return None

    def is_own(self, name: str) -> bool:
        """Return whether Karat contains the engine *name* and the search behind it."""
        return name in self.built_in() and not self.info(name).adapter

    def is_adapter(self, name: str) -> bool:
        """Return whether the built-in engine *name* connects to a program from elsewhere."""
        return name in self.built_in() and self.info(name).adapter


ENGINES = EngineRegistry(BUILT_IN)


def register(info: EngineInfo) -> None:
    """Make an engine known in this process under ``info.name``.

    Worker processes, which run the engines of experiments, know the engines of extensions only:
    add the record to an extension, a single file for instance, to use it there.

    >>> from karat.engines.keyword import KeywordEngine
    >>> register(EngineInfo(name="keyword", factory=KeywordEngine))
    Traceback (most recent call last):
    ...
    karat.errors.InputError: an engine named 'keyword' exists already; choose another name
    """
    ENGINES.register(info)


def modes() -> dict[str, EngineInfo]:
    """Return the engines that a matrix can name, by their mode.

    An engine that cannot be loaded has no mode; ``karat engines`` reports why.

    >>> [(mode, info.name) for mode, info in modes().items() if info.name in ENGINES.core()][2:]
    [('hybrid', 'hybrid'), ('splade', 'sparse')]
    """
    by_mode: dict[str, EngineInfo] = {}
    for name in ENGINES:
        if (info := ENGINES.find(name)) and info.mode:
            by_mode.setdefault(info.mode, info)
    return by_mode


Profile = Mapping[str, object]
PROFILES: Mapping[str, Profile] = {
    "lexical": {"engine": "bm25"},
    "fast": {"engine": "hybrid", "model": "static", "dense_weight": 0.3},
    "balanced": {"engine": "hybrid"},
    "quality": {"engine": "hybrid", "windows": "all"},
}
# Earlier names of profiles. The engine ``keyword`` is another search, a plain grep.
PROFILE_ALIASES: Mapping[str, str] = {"keyword": "lexical"}


def profile_named(name: str) -> Profile:
    """Return the engine and options of the profile *name*, which may be its earlier name."""
    key = PROFILE_ALIASES.get(name, name)
    if key not in PROFILES:
        raise InputError(f"no profile named {name!r}; known: {', '.join(PROFILES)}")
    return PROFILES[key]


def has_absolute_scores(spec: Spec) -> bool:
    """Return whether a threshold applies to the score itself, not to its share of the best one."""
    info = ENGINES.find(spec.name)
    return info is not None and info.absolute_scores


def check_threshold(threshold: float) -> float:
    """Return *threshold*, or raise InputError if it is not between 0 and 1."""
    if not 0.0 <= threshold <= 1.0:
        raise InputError(f"threshold {threshold} is not between 0 and 1")
    return threshold


def count_above(scores: Sequence[float], threshold: float, *, by_score: bool) -> int:
    """Return how many of the descending *scores* reach *threshold*; 0 lets all of them through.

    *by_score* compares the score itself, otherwise its share of the first one. No score at or
    below 0, and none that is not a number, reaches a threshold.

    >>> count_above([8.0, 4.0, 1.0], 0.5, by_score=False)
    2
    >>> count_above([0.4, 0.3], 0.35, by_score=True)
    1
    """
    if not threshold or not scores:
        return len(scores)
    floor = threshold if by_score else threshold * scores[0]
    low = (rank for rank, score in enumerate(scores) if not (score > 0 and score >= floor))
    return next(low, len(scores))
