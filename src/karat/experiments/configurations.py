"""Engines as a user names them, as the configurations of an experiment."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from karat.engines.embedding.catalogue import embedder_named
from karat.engines.registry import ADAPTERS, ENGINES
from karat.engines.spec import FILES, build, parse_spec
from karat.errors import EngineError, InputError, UnknownName
from karat.experiments import Entry
from karat.model import Dataset
from karat.model.spec import Spec
from karat.scoring.settings import Scoring
from karat.scoring.sources import number_duplicates

__all__ = [
    "CLASSES",
    "DEPTH",
    "NAMES",
    "Agent",
    "agent_of",
    "answers_alike",
    "depth_of",
    "engine_entries",
]

DEPTH = 100


def engine_entries(
    engines: Sequence[str | Mapping[str, object]], *, k: int = DEPTH
) -> tuple[Entry, ...]:
    """Return one configuration for each of *engines*, asked for *k* hits and named apart.

    Each is built once, so that an option that it does not have is refused before anything runs. A
    class that fails when it is made fails as a run of its own, beside the others.

    >>> [entry.name for entry in engine_entries(["bm25", "bm25(k1=1.2)", {"engine": "bm25"}])]
    ['bm25-1', 'bm25(k1=1.2)', 'bm25-3']
    """
    if not engines:
        raise InputError("no engine to evaluate; expected one or more")
    found = [(_name(engine, spec), spec) for engine in engines for spec in (parse_spec(engine),)]
    names = number_duplicates([name for name, _ in found])
    return tuple(
        Entry(name, spec, k, options={"engine": spec.name, **spec.params})
        for name, (_, spec) in zip(names, found, strict=True)
    )


def depth_of(k: int | None, scoring: Scoring, gold: Dataset) -> int:
    """Return how many hits to ask for: *k*, or 100, or as deep as a measure looks.

    A measure that looks deeper than *k* is refused.
    """
    cuts = {str(measure): measure.k or 0 for measure in scoring.parsed(gold)}
    if k is None:
        return max(DEPTH, *cuts.values())
    for name, cut in cuts.items():
        if cut > k:
            raise InputError(f"{name} looks deeper than the {k} hits asked for; expected -k {cut}")
    return k


def answers_alike(spec: Spec) -> bool:
    """Return whether the engine of *spec* is ours to the ground: asked again it answers the same.

    >>> answers_alike(parse_spec("rerank(over=bm25)")), answers_alike(parse_spec("json:loads"))
    (True, False)
    """
    if spec.name not in ENGINES.built_in() or spec.name in ADAPTERS:
        return False
    over = spec.params.get("over")
    return answers_alike(parse_spec(over)) if isinstance(over, str | Mapping) else True


def _name(engine: str | Mapping[str, object], spec: Spec) -> str:
    """Return what was typed, which says most, or of a file or JSON what the engine calls itself."""
    try:
        called = build(spec).name
    except EngineError:
        called = str(spec.params.get("name") or spec.name)
    typed = isinstance(engine, str) and not engine.endswith(FILES) and not engine.startswith("{")
    return str(engine) if typed else called


# The classes of a code search benchmark, and the engines that do what they are named after.
CLASSES: Mapping[str, str] = {
    "KeywordSearchAgent": "keyword",
    "SemanticSearchAgent": "dense",
    "HybridAgent": "hybrid",
}
# What such agents are called where nobody configures them.
NAMES: Mapping[str, str] = {"keyword_search": "keyword", "semantic_search": "dense"}
TOP_K = "top_k"


@dataclass(frozen=True, slots=True)
class Agent:
    """A search by the *name* that reports give it; *k* is how many hits it wants, if it says."""

    name: str
    spec: Spec
    k: int | None = None

    def entry(self, k: int = DEPTH) -> Entry:
        """Return it as a configuration, asked for *k* hits where it does not say."""
        options = {"engine": self.spec.name, **self.spec.params}
        return Entry(self.name, self.spec, self.k or k, options=options)


def agent_of(name: str, target: str, config: Mapping[str, object]) -> Agent:
    """Return the agent called *name*: an engine, one of CLASSES, or ``module:Class``.

    *config* holds its options. ``top_k`` is how many hits it is asked for, and ``model`` may be a
    name of the hub, except of a class of the user, which is given all as it stands. What cannot be
    applied is refused, all of it at once.

    >>> agent = agent_of("words", "KeywordSearchAgent", {"case_sensitive": "false", "top_k": "5"})
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
    try:
        base = parse_spec(CLASSES.get(target, target))
    except UnknownName as error:
        raise UnknownName(f"{error}; agents are {', '.join(CLASSES)}, or module:Class") from None
    spec = Spec(base.kind, base.name, {**base.params, **options})
    # A class that fails when it is made costs its own run.
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
    raise InputError(f"{TOP_K} {given!r} is no whole number above 0")
