"""Names of ir_measures: ``IPrec@0.5``, ``SetF(beta=0.5)``, ``nDCG(gains={1:3})@10``."""

import re
from collections.abc import Iterator

from karat.errors import InputError

FORM = re.compile(r"(?P<name>\w+)\s*(?:\((?P<params>[^()]*)\))?\s*(?:@\s*(?P<at>\d*\.?\d+))?")
# name=value, where a value in braces may have commas.
PARAM = r"\s*(?P<name>\w+)\s*=\s*(?P<value>\{[^{}]*\}|[^,={}]+?)\s*(?:,|$)"
PARAMS_FORM = re.compile(f"({re.sub('[?]P<[a-z]+>', '', PARAM)})*")
NAMES = {
    "alpha_ndcg": "alpha-ndcg",
    "α_ndcg": "alpha-ndcg",
    "ap": "ap",
    "map": "ap",
    "bpref": "bpref",
    "err": "err",
    "err_ia": "err-ia",
    "infap": "inf-ap",
    "iprec": "iprec",
    "judged": "judged",
    "ndcg": "ndcg",
    "nrbp": "nrbp",
    "numq": "num-q",
    "numrel": "num-rel",
    "numrelret": "num-rel-ret",
    "numret": "num-ret",
    "p": "precision",
    "precision": "precision",
    "r": "recall",
    "recall": "recall",
    "rbp": "rbp",
    "rprec": "r-precision",
    "rr": "mrr",
    "mrr": "mrr",
    "setap": "set-ap",
    "setf": "set-f",
    "setp": "set-precision",
    "setr": "set-recall",
    "setrelp": "set-relative-precision",
    "strecall": "strec",
    "success": "hit",
}
PARAMS = {"rel": "level", "dcg": "gain", "gains": "gain", "beta": "weight"}
NEAREST = {
    "accuracy": "the share of pairs with the relevant document first. The nearest is bpref",
    "alpha_dcg": "not normalised. Karat has alpha-ndcg@k",
    "α_dcg": "not normalised. Karat has alpha-ndcg@k",
    "ap_ia": "average precision by subtopic. Of these measures Karat has err-ia@k and alpha-ndcg@k",
    "p_ia": "precision by subtopic. Of these measures Karat has strec@k and alpha-ndcg@k",
    "nerr_ia": "normalised. Karat has err-ia@k",
    "nnrbp": "normalised. Karat has nrbp",
    "bpm": "a reader who stops at a gain or a rank. The nearest is rbp-graded",
    "inst": "a reader with an expected number of documents. The nearest is rbp-graded",
    "insq": "a reader with an expected number of documents. The nearest is rbp-graded",
    "sdcg": "DCG on a fixed scale. Karat has dcg@k and ndcg@k",
    "compat": "overlap with the nearest ideal ranking. Karat has rbo between two runs, and ndcg",
    "nerr8": "a normalised ERR. Karat has err@k",
    "nerr9": "a normalised ERR. Karat has err@k",
    "nerr10": "a normalised ERR. Karat has err@k",
    "nerr11": "a normalised ERR. Karat has err@k",
}
NEAREST |= {"map_ia": NEAREST["ap_ia"]}


def translate(text: str) -> str | None:
    """Return Karat's measure for *text*, None if ir_measures has no such name.

    >>> translate("IPrec@0.5"), translate("SetF(beta=0.5)"), translate("NumRet(rel=2)")
    ('iprec(recall=0.5)', 'set-f(weight=0.5)', 'num-rel-ret(level=2)')
    >>> translate("nDCG(gains={1:3, 2:9})@10")
    'ndcg(gain=1:3/2:9)@10'
    """
    form = FORM.fullmatch(text)
    name = form["name"].lower() if form else ""
    if form is None or name not in {*NAMES, *NEAREST}:
        return None
    if not PARAMS_FORM.fullmatch(form["params"] or ""):
        return None
    if name in NEAREST:
        raise InputError(f"{text}: {NEAREST[name]}; the page 'Names of other packages' lists all")
    params = dict(_params(text, form["params"] or ""))
    metric, at = NAMES[name], form["at"] or ""
    if params.pop("relative", "") == "True":
        metric = "set-relative-precision"
    if metric == "num-ret" and "level" in params:
        metric = "num-rel-ret"
    if metric == "iprec" and at:
        params["recall"], at = at, ""
    inside = ",".join(f"{key}={value}" for key, value in params.items())
    return metric + (f"({inside})" if inside else "") + (f"@{at}" if at else "")


def _params(text: str, inside: str) -> Iterator[tuple[str, str]]:
    for param in re.finditer(PARAM, inside):
        name, value = param["name"].lower(), param["value"].strip("'\"")
        if name == "judged_only":
            if value != "False":
                raise InputError(
                    f"{text}: in Karat this is an option for all measures: --judged-only, or "
                    "judged_only=True"
                )
            continue
        if name == "gains":
            value = value.strip("{}").replace(" ", "").replace(",", "/")
        yield PARAMS.get(name, name), {"exp-log2": "exp", "log2": "linear"}.get(value, value)
