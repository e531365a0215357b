"""What is judged, files or places in them, and engines that are told so."""

from collections.abc import Mapping
from inspect import signature

from karat.engines.registry import ENGINES
from karat.engines.spec import parse_spec
from karat.matching.modes import MATCHERS
from karat.model.spec import Spec

__all__ = ["judges_files", "with_unit"]


def judges_files(match: str) -> bool:
    """Say whether *match* judges whole files or documents, of which only the first hit counts."""
    return MATCHERS.get(match)().collapse


def with_unit(spec: Spec, unit: str) -> Spec:
    """Return *spec* with the *unit* that is judged, where the engine takes one and has none.

    >>> with_unit(parse_spec("bm25(k1=1.2)"), "file").params
    {'k1': '1.2', 'unit': 'file'}
    >>> with_unit(parse_spec("rerank(over=bm25(unit=lines))"), "file").params
    {'over': {'engine': 'bm25', 'unit': 'lines'}}
    """
    if spec.name not in ENGINES.built_in():
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
