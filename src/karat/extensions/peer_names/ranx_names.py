"""Names of ranx: ``ndcg_burges@10``, ``rbp.80``, ``precision@10-l2``."""

import re

from karat.errors import InputError

FORM = re.compile(
    r"(?P<name>[a-z][a-z0-9_]*(?:-precision)?)(?:\.(?P<p>\d+))?(?:@(?P<k>\d+))?(?:-l(?P<level>\d+))?",
    re.IGNORECASE,
)
# With the lowest relevant grade as a parameter.
LEVELLED = {
    "hit_rate": "hit",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "r-precision": "r-precision",
    "mrr": "mrr",
    "map": "ap",
    "bpref": "bpref",
}
# Without a cut-off these are of all hits in ranx.
OF_ALL_HITS = {"precision": "set-precision", "f1": "set-f1"}


def translate(text: str) -> str | None:
    """Return Karat's measure for *text*, None if ranx has no such name.

    >>> translate("ndcg_burges@10"), translate("rbp.95"), translate("map@100-l2")
    ('ndcg(gain=exp)@10', 'rbp(p=0.95)', 'ap(level=2)@100')
    >>> translate("ndcg@10-l3"), translate("f1-l2")
    ('ndcg(gain=1:0/2:0)@10', 'set-f1(level=2)')
    """
    form = FORM.fullmatch(text)
    if form is None:
        return None
    name, k, level = form["name"].lower(), form["k"], int(form["level"] or 1)
    cut = f"@{k}" if k else ""
    if name == "hits":
        raise InputError(
            f"{text}: in ranx the number of relevant hits. Karat has their share of the first k, "
            f"precision{cut or '@10'}; whether there is one, hit{cut or '@10'}; and the number in "
            "the whole list, num-rel-ret"
        )
    if name == "rbp" and form["p"] and not k:
        return _written("rbp", "", p="0." + form["p"], level=_level(level))
    if form["p"] or (name not in LEVELLED and name.removesuffix("_burges") not in ("ndcg", "dcg")):
        return None
    if name in OF_ALL_HITS and not k and level == 1:
        return None  # more often a cut-off was forgotten
    if name in LEVELLED:
        meant = LEVELLED[name] if k else OF_ALL_HITS.get(name, LEVELLED[name])
        return _written(meant, cut, level=_level(level))
    if level > 1 and name.endswith("_burges"):
        raise InputError(
            f"{text}: in ranx grades below {level} have no gain; in Karat name the gain of each "
            f"grade, such as ndcg(gain=1:0/2:3/3:7){cut}"
        )
    dropped = "/".join(f"{grade}:0" for grade in range(1, level))
    gain = "exp" if name.endswith("_burges") else dropped
    return _written(name.removesuffix("_burges"), cut, gain=gain)


def _level(level: int) -> str:
    return str(level) if level > 1 else ""


def _written(metric: str, cut: str, **params: str) -> str:
    inside = ",".join(f"{name}={value}" for name, value in params.items() if value)
    return f"{metric}({inside}){cut}" if inside else f"{metric}{cut}"
