"""Engines as a user names them, as the configurations of an experiment."""

from collections.abc import Mapping, Sequence

from karat.app.settings import Scoring
from karat.app.sources import told_apart
from karat.engines.registry import ADAPTERS, ENGINES
from karat.engines.spec import FILES, build, parse_spec
from karat.errors import EngineError, InputError
from karat.model import Dataset
from karat.model.spec import Spec
from karat.sweep import Entry

__all__ = ["DEPTH", "answers_alike", "depth_of", "engine_entries"]

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
    names = told_apart([name for name, _ in found])
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
