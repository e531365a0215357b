"""The unit that a gold set judges, whole files or parts of them, as a parameter of engines."""

from collections.abc import Mapping
from inspect import signature

from karat.engines.registry import ENGINES
from karat.engines.spec import parse_spec
from karat.matching.modes import MATCHERS
from karat.matching.units import files_judged
from karat.model import Dataset
from karat.model.spec import Spec

__all__ = ["judged_unit", "with_unit"]


def judged_unit(gold: Dataset, match: str) -> str:
    """Return the unit that suits the queries of *gold* best: ``file``, or ``lines`` of one.

    An engine has one unit for all queries. Where some have targets with lines and others whole
    files, it is ``lines`` only if more than half of the judged queries have a target with lines:
    one such query does not turn a set of files into a set of lines. An even split is ``file``;
    design/0004-order-of-code.md has the figures.

    >>> from karat.model import Query, Target
    >>> files = [Query(str(number), "login", (Target("auth.py"),)) for number in range(2)]
    >>> lines = Query("lines", "login", (Target("auth.py", start_line=3, end_line=9),))
    >>> judged_unit(Dataset.of([*files, lines]), "lines"), judged_unit(Dataset.of([lines]), "lines")
    ('file', 'lines')
    """
    by_files = [
        is_file for row, is_file in enumerate(files_judged(gold, match)) if gold.targets(row)
    ]
    if not by_files:
        return "file" if MATCHERS.get(match)().collapse else "lines"
    return "file" if 2 * sum(by_files) >= len(by_files) else "lines"


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
