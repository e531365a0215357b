"""trec_eval's measures under its names, and the measures of Karat that compute them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from karat.errors import InputError, UnknownName
from karat.scoring.metrics.measure import Measure

# The parameters after the name: cut-offs, points (one value each), numbers or grade=gain pairs (one
# value from all of them), or none.
Takes = Literal["nothing", "cuts", "points", "numbers", "pairs"]
Needs = Literal["any", "qrels", "qrels_jg", "prefs"]


class TrecMeasure(NamedTuple):
    """One of trec_eval's measures.

    *metric* is Karat's name for it, empty if the value is not a number. *params* names the metric's
    parameters that the numbers after the dot set. *needs* is the kind of judgments it reads.
    """

    metric: str
    takes: Takes = "nothing"
    default: tuple[float, ...] = ()
    params: tuple[str, ...] = ()
    needs: Needs = "qrels"
    whole: bool = False
    per_query: bool = True


RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
PRICES = ("found", "wrong", "missed", "spared")


def _count(metric: str, needs: Needs = "qrels") -> TrecMeasure:
    return TrecMeasure(metric, needs=needs, whole=True)


def _cuts(metric: str, *default: int, needs: Needs = "qrels") -> TrecMeasure:
    return TrecMeasure(metric, "cuts", default or RANKS, needs=needs)


def _points(
    metric: str, param: str, default: tuple[float, ...], needs: Needs = "qrels"
) -> TrecMeasure:
    return TrecMeasure(metric, "points", default, (param,), needs)


def _gains(metric: str, *params: str) -> TrecMeasure:
    return TrecMeasure(metric, "pairs", params=params or ("gain",))


MEASURES = {
    "runid": TrecMeasure("", needs="any", per_query=False),
    "num_q": TrecMeasure("num-q", needs="any", whole=True, per_query=False),
    "num_ret": _count("num-ret"),
    "num_rel": _count("num-rel"),
    "num_rel_ret": _count("num-rel-ret"),
    "map": TrecMeasure("ap"),
    "gm_map": TrecMeasure("gm-ap", per_query=False),
    "Rprec": TrecMeasure("r-precision"),
    "bpref": TrecMeasure("bpref"),
    "recip_rank": TrecMeasure("mrr"),
    "iprec_at_recall": _points("iprec", "recall", RECALLS),
    "P": _cuts("precision"),
    "relstring": TrecMeasure("", "numbers", (10.0,)),
    "recall": _cuts("recall"),
    "infAP": TrecMeasure("inf-ap"),
    "gm_bpref": TrecMeasure("gm-bpref", per_query=False),
    "Rprec_mult": _points("r-precision-mult", "times", MULTIPLES),
    "utility": TrecMeasure("utility", "numbers", params=PRICES),
    "11pt_avg": TrecMeasure("11pt-avg", "numbers", params=("points",)),
    "binG": TrecMeasure("bin-g"),
    "G": _gains("g"),
    "dcg": _gains("dcg"),
    "ideal_dcg": _gains("ideal-dcg"),
    "ndcg": _gains("ndcg"),
    "ndcg_rel": _gains("ndcg-rel"),
    "Rndcg": _gains("r-ndcg"),
    "ndcg_cut": _cuts("ndcg"),
    "map_cut": _cuts("ap"),
    "relative_P": _cuts("relative-precision"),
    "success": _cuts("hit", 1, 5, 10),
    "set_P": TrecMeasure("set-precision"),
    "set_relative_P": TrecMeasure("set-relative-precision"),
    "set_recall": TrecMeasure("set-recall"),
    "set_map": TrecMeasure("set-ap"),
    "set_F": TrecMeasure("set-f", "numbers", params=("weight",)),
    "num_nonrel_judged_ret": _count("num-nonrel-judged-ret"),
    "prefs_num_prefs_poss": _count("prefs-num-prefs-poss", "prefs"),
    "prefs_num_prefs_ful": _count("prefs-num-prefs-ful", "prefs"),
    "prefs_num_prefs_ful_ret": _count("prefs-num-prefs-ful-ret", "prefs"),
    "prefs_simp": TrecMeasure("prefs-simp", needs="prefs"),
    "prefs_pair": TrecMeasure("prefs-pair", needs="prefs"),
    "prefs_avgjg": TrecMeasure("prefs-avgjg", needs="prefs"),
    "prefs_avgjg_Rnonrel": TrecMeasure("prefs-avgjg-rnonrel", needs="prefs"),
    "prefs_simp_ret": TrecMeasure("prefs-simp-ret", needs="prefs"),
    "prefs_pair_ret": TrecMeasure("prefs-pair-ret", needs="prefs"),
    "prefs_avgjg_ret": TrecMeasure("prefs-avgjg-ret", needs="prefs"),
    "prefs_avgjg_Rnonrel_ret": TrecMeasure("prefs-avgjg-rnonrel-ret", needs="prefs"),
    "prefs_simp_imp": TrecMeasure("prefs-simp-imp", needs="prefs"),
    "prefs_pair_imp": TrecMeasure("prefs-pair-imp", needs="prefs"),
    "prefs_avgjg_imp": TrecMeasure("prefs-avgjg-imp", needs="prefs"),
    "map_avgjg": TrecMeasure("ap-avgjg", needs="qrels_jg"),
    "P_avgjg": _cuts("precision-avgjg", needs="qrels_jg"),
    "Rprec_mult_avgjg": _points("r-precision-mult-avgjg", "times", MULTIPLES, "qrels_jg"),
    "yaap": TrecMeasure("yaap"),
    "rbp": _gains("rbp-graded", "p", "gain"),
    "rbp_resid": _gains("rbp-residual", "p"),
    "unj": _cuts("unjudged", 5, 10, 20),
}

COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
NOT_IN_ALL = {"dcg", "ideal_dcg", "yaap"}

NICKNAMES = {
    "official": (
        *COUNTS,
        *("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    ),
    "set": (
        *COUNTS,
        *("utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    ),
    "all_trec": tuple(
        name
        for name, measure in MEASURES.items()
        if measure.needs in ("any", "qrels") and name not in NOT_IN_ALL
    ),
    "all_prefs": tuple(
        name for name, measure in MEASURES.items() if measure.needs in ("any", "prefs")
    ),
    "prefs": (
        *("runid", "num_q"),
        *("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"),
        *("prefs_simp", "prefs_pair", "prefs_avgjg"),
    ),
    "qrels_jg": ("runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}


LEADING_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+")


class Value(NamedTuple):
    """One value to print: its name and its measure (None if it is not a number).

    *family* is trec_eval's measure, *length* the maximum length of a relstring.
    """

    name: str
    family: str
    measure: Measure | None
    length: int = 0


def values(
    requests: Sequence[str], *, level: int = 1, collection: int = 0, judgments: str = "qrels"
) -> list[Value]:
    """Return the values that *requests* name, in trec_eval's order.

    The first parameters of a measure apply wherever else it is requested. A measure that needs
    another kind of *judgments* is an error.

    >>> [value.name for value in values(["P.10,5", "map"])]
    ['map', 'P_5', 'P_10']
    """
    families: set[str] = set()
    given: dict[str, str] = {}
    for request in requests:
        name, dot, parameters = request.strip().partition(".")
        if dot and not parameters:
            raise InputError(f"measure {request!r} ends in a dot; expected parameters after it")
        if name not in NICKNAMES and name not in MEASURES:
            raise _unknown(name)
        families.update(NICKNAMES.get(name, (name,)))
        if dot:
            given.setdefault(name, parameters)
    kind = "prefs" if judgments == "qrels_prefs" else judgments
    wrong = [
        name for name in MEASURES if name in families and MEASURES[name].needs not in (kind, "any")
    ]
    if wrong:
        needs = MEASURES[wrong[0]].needs
        raise InputError(f"{', '.join(wrong)}: computed from {needs}, not from {judgments}; see -R")
    return [
        value
        for name in MEASURES
        if name in families
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
        for cut in _distinct(name, measure.default if given is None else _cut_offs(name, given)):
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
    """Return the measure with *params*, and with the settings that its metric accepts."""
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
            raise InputError(f"{name}.{given}: {pair!r} is not a pair; expected grade=gain")
        number = _number(f"{name}.{given}", value)
        if key in measure.params:
            params[key] = number
        elif "gain" in measure.params and WHOLE.fullmatch(key):
            if int(key) < 0:
                raise InputError(f"{name}.{given}: grade {key} is below 0 and has no gain")
            gains.append(f"{int(key)}:{_plain(number)}")
    if gains:
        params["gain"] = "/".join(gains)
    return params


def _cut_offs(name: str, given: str) -> list[float]:
    cuts = [float(int(number)) for number in _numbers(name, given)]
    if min(cuts) < 1:
        raise InputError(f"{name}.{given}: the cut-off must be 1 or more")
    return cuts


def _distinct(name: str, numbers: Sequence[float]) -> list[float]:
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{name}: the same cut-off is given twice")
    return sorted(numbers)


def _numbers(name: str, given: str) -> list[float]:
    return [_number(f"{name}.{given}", word) for word in given.split(",")]


def _number(where: str, word: str) -> float:
    """Return the number that *word* starts with, as C's atof reads it."""
    match = LEADING_NUMBER.match(word)
    if match is None:
        raise InputError(f"{where}: {word!r} is not a number")
    return float(match.group())


def _plain(number: float) -> str:
    return str(number).removesuffix(".0")


def _unknown(name: str) -> UnknownName:
    from difflib import get_close_matches

    near = get_close_matches(name, [*MEASURES, *NICKNAMES], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join([*MEASURES, *NICKNAMES])}"
    return UnknownName(f"trec_eval has no measure {name!r}; {hint}")
