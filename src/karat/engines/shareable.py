"""Which engines may share their work in one family, told by their specifications alone."""

from collections.abc import Mapping

from karat.engines.spec import parse_spec
from karat.model.spec import Spec

__all__ = ["shareable"]

CHUNKED = frozenset({"bm25", "dense", "hybrid", "sparse"})
# How a corpus is cut, and whether the outcome is kept; what a specification does not say.
CUTTING: Mapping[str, object] = {"chunker": "auto", "cache": True}


def shareable(spec: Spec) -> str | None:
    """Return a key that the engines of one family have in common; None for one that shares nothing.

    They are the engines over chunks that cut alike, and rerankers after such an engine.

    >>> specs = map(parse_spec, ["bm25", "rerank(over=dense)", "bm25(chunker=lines)", "keyword"])
    >>> first, second, third, fourth = map(shareable, specs)
    >>> first == second, first == third, fourth
    (True, False, None)
    """
    if spec.name == "rerank":
        over = spec.params.get("over", "bm25")
        return shareable(parse_spec(over if isinstance(over, Mapping) else str(over)))
    if spec.name not in CHUNKED:
        return None
    cutting = {**CUTTING, **{name: spec.params[name] for name in spec.params if _cuts(name)}}
    # A value is a word on the command line, and may be a number or a truth value in a file.
    return ", ".join(f"{name}={cutting[name]}".lower() for name in sorted(cutting))


def _cuts(name: str) -> bool:
    return name in CUTTING or name.startswith("chunk")
