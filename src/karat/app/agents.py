"""Agents as other benchmarks name and configure them, as the engines that Karat has."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from karat.app.entries import DEPTH
from karat.engines.embedding.names import embedder_named
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError, UnknownName
from karat.model.spec import Spec
from karat.sweep import Entry

__all__ = ["CLASSES", "NAMES", "Agent", "agent_of"]

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
