"""trec_eval's measures by its own names, in the order in which it prints them."""

from typing import Literal, NamedTuple

__all__ = ["MEASURES", "NICKNAMES", "Takes", "TrecMeasure"]

# What may follow the name: cut-offs, points (one value each), numbers or grade=gain pairs
# (one value from all of them), or nothing.
Takes = Literal["nothing", "cuts", "points", "numbers", "pairs"]
Needs = Literal["any", "qrels", "qrels_jg", "prefs"]


class TrecMeasure(NamedTuple):
    """One of trec_eval's measures.

    *metric* is Karat's name for it, empty for what is no number. *params* names the metric's
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
