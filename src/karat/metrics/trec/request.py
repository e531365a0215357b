"""From what ``-m`` says to the values to compute: ``P.5,10``, ``ndcg.1=3,2=9``, ``all_trec``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.errors import InputError, UnknownName
from karat.metrics.measure import Measure
from karat.metrics.trec.names import MEASURES, NICKNAMES, TrecMeasure

__all__ = ["Value", "values"]

LEADING_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+")


class Value(NamedTuple):
    """One value to print: under which name, by which measure (None where it is no number).

    *family* is trec_eval's measure, *length* how much of a relstring is wanted.
    """

    name: str
    family: str
    measure: Measure | None
    length: int = 0


def values(
    requests: Sequence[str], *, level: int = 1, collection: int = 0, judgments: str = "qrels"
) -> list[Value]:
    """Return what *requests* ask for, in trec_eval's order.

    The first parameters given for a measure hold, wherever else it is asked for. A measure that
    needs another kind of *judgments* is refused.

    >>> [value.name for value in values(["P.10,5", "map"])]
    ['map', 'P_5', 'P_10']
    """
    wanted: set[str] = set()
    given: dict[str, str] = {}
    for request in requests:
        name, dot, parameters = request.strip().partition(".")
        if dot and not parameters:
            raise InputError(f"measure {request!r} ends in a dot; expected parameters after it")
        if name not in NICKNAMES and name not in MEASURES:
            raise _unknown(name)
        wanted.update(NICKNAMES.get(name, (name,)))
        if dot:
            given.setdefault(name, parameters)
    kind = "prefs" if judgments == "qrels_prefs" else judgments
    wrong = [
        name for name in MEASURES if name in wanted and MEASURES[name].needs not in (kind, "any")
    ]
    if wrong:
        needs = MEASURES[wrong[0]].needs
        raise InputError(f"{', '.join(wrong)}: computed from {needs}, not from {judgments}; see -R")
    return [
        value
        for name in MEASURES
        if name in wanted
        for value in _expand(name, given.get(name), {"level": level, "collection": collection})
    ]


def _expand(name: str, given: str | None, settings: Mapping[str, int]) -> Iterator[Value]:
    measure = MEASURES[name]
    if given is not None and measure.takes == "nothing":
        given = None  # as in trec_eval, parameters that a measure does not take are ignored
    full = name if given is None else f"{name}_{given}"
    if name == "runid":
        yield Value(name, name, None)
    elif name == "relstring":
        length = measure.default[0] if given is None else _numbers(name, given)[0]
        yield Value(full, name, None, int(length))
    elif measure.takes == "cuts":
        for cut in _distinct(name, measure.default if given is None else _cuts(name, given)):
            yield Value(f"{name}_{cut:.0f}", name, _bound(measure, settings, k=int(cut)))
    elif measure.takes == "points":
        points = measure.default if given is None else _numbers(name, given)
        for point in _distinct(name, points):
            at_point = {measure.params[0]: point}
            yield Value(f"{name}_{point:3.2f}", name, _bound(measure, settings, at_point))
    else:
        params = {} if given is None else _parameters(name, measure, given)
        yield Value(full, name, _bound(measure, settings, params))


def _bound(
    measure: TrecMeasure,
    settings: Mapping[str, int],
    params: Mapping[str, float | str] | None = None,
    *,
    k: int | None = None,
) -> Measure:
    """Return the measure with *params*, and with those settings that its metric knows."""
    known = Measure(measure.metric).definition.params
    chosen: dict[str, float | str] = {
        name: float(value) for name, value in settings.items() if name in known
    }
    if chosen.get("level") == 1.0:
        del chosen["level"]
    chosen.update(params or {})
    return Measure(measure.metric, k, tuple(sorted(chosen.items())))


def _parameters(name: str, measure: TrecMeasure, given: str) -> dict[str, float | str]:
    if measure.takes == "pairs":
        return _pairs(name, measure, given)
    numbers = _numbers(name, given)
    if measure.params == ("points",):
        return {"points": "/".join(map(_plain, numbers))}
    if len(numbers) != len(measure.params):
        raise InputError(f"{name}.{given}: expected {len(measure.params)} numbers")
    return dict(zip(measure.params, numbers, strict=True))


def _pairs(name: str, measure: TrecMeasure, given: str) -> dict[str, float | str]:
    """Return ``p`` and the gains of ``p=0.8,1=3,2=9``; any other name is ignored."""
    params: dict[str, float | str] = {}
    gains = []
    for pair in given.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not key or "=" in value:
            raise InputError(f"{name}.{given}: {pair!r} is no pair; expected grade=gain")
        number = _number(f"{name}.{given}", value)
        if key in measure.params:
            params[key] = number
        elif "gain" in measure.params and WHOLE.fullmatch(key):
            if int(key) < 0:
                raise InputError(f"{name}.{given}: grade {key} is below 0 and gains nothing")
            gains.append(f"{int(key)}:{_plain(number)}")
    if gains:
        params["gain"] = "/".join(gains)
    return params


def _cuts(name: str, given: str) -> list[float]:
    cuts = [float(int(number)) for number in _numbers(name, given)]
    if min(cuts) < 1:
        raise InputError(f"{name}.{given}: a cut-off is 1 or more")
    return cuts


def _distinct(name: str, numbers: Sequence[float]) -> list[float]:
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{name}: the same cut-off is given twice")
    return sorted(numbers)


def _numbers(name: str, given: str) -> list[float]:
    return [_number(f"{name}.{given}", word) for word in given.split(",")]


def _number(where: str, word: str) -> float:
    """Return the number that *word* starts with, as C's atof reads it."""
    found = LEADING_NUMBER.match(word)
    if found is None:
        raise InputError(f"{where}: {word!r} is no number")
    return float(found.group())


def _plain(number: float) -> str:
    return str(number).removesuffix(".0")


def _unknown(name: str) -> UnknownName:
    from difflib import get_close_matches

    near = get_close_matches(name, [*MEASURES, *NICKNAMES], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join([*MEASURES, *NICKNAMES])}"
    return UnknownName(f"trec_eval has no measure {name!r}; {hint}")
