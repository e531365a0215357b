"""Every metric by its name; adding one is a function in its own file and a line here."""

from typing import TYPE_CHECKING

from karat.registry import Registry

if TYPE_CHECKING:
    from karat.metrics.measure import Metric

__all__ = ["METRICS"]

METRICS: "Registry[Metric]" = Registry(
    "metric",
    {
        "ndcg": "karat.metrics.gain:NDCG",
        "dcg": "karat.metrics.gain:DCG",
        "mrr": "karat.metrics.first:MRR",
        "hit": "karat.metrics.first:HIT",
        "ap": "karat.metrics.precision:AP",
        "precision": "karat.metrics.precision:PRECISION",
        "recall": "karat.metrics.precision:RECALL",
        "f1": "karat.metrics.precision:F1",
        "r-precision": "karat.metrics.precision:R_PRECISION",
        "bpref": "karat.metrics.unjudged:BPREF",
        "judged": "karat.metrics.unjudged:JUDGED",
        "err": "karat.metrics.user:ERR",
        "rbp": "karat.metrics.user:RBP",
        "set-precision": "karat.metrics.sets:SET_PRECISION",
        "set-recall": "karat.metrics.sets:SET_RECALL",
        "set-f1": "karat.metrics.sets:SET_F1",
        "line-precision": "karat.metrics.size:LINE_PRECISION",
        "line-iou": "karat.metrics.size:LINE_IOU",
        "lines": "karat.metrics.size:LINES",
        "tokens": "karat.metrics.size:TOKENS",
        "tokens-to-hit": "karat.metrics.size:TOKENS_TO_HIT",
        "token-recall": "karat.metrics.size:TOKEN_RECALL",
    },
    aliases={
        "rr": "mrr",
        "recip_rank": "mrr",
        "recip-rank": "mrr",
        "map": "ap",
        "p": "precision",
        "r": "recall",
        "success": "hit",
        "hit_rate": "hit",
        "hit-rate": "hit",
        "rprec": "r-precision",
        "r_precision": "r-precision",
        "ndcg_cut": "ndcg",
        "map_cut": "ap",
        "set_f1": "set-f1",
        "set_p": "set-precision",
        "set_recall": "set-recall",
    },
)
