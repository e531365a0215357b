"""The unit that a gold set judges, whole files or parts of them, as a parameter of engines."""

from collections.abc import Mapping
from inspect import signature
from typing import NamedTuple

from karat.engines.registry import ENGINES
from karat.engines.spec import parse_spec
from karat.matching.modes import MATCHERS
from karat.matching.units import files_judged
from karat.model import Dataset
from karat.model.spec import Spec

__all__ = ["JudgedUnits", "judged_units", "with_unit"]


class JudgedUnits(NamedTuple):
    """What the queries of a gold set judge.

    *files* says whether any of them judges whole files, *parts* holds the ids of those that judge
    parts of files in such a set, and *most* is the unit that suits most queries: ``file``, or
    ``lines`` of one.
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
