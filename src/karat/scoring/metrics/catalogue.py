"""Registry of all metrics. To add one, write a function with ``@metric`` and a line here."""

from collections.abc import Callable

from karat.registry import Registry
from karat.scoring.metrics.definition import Metric, definition_of


class MetricRegistry(Registry[Metric]):
    """Metrics by name: each is a function with ``@metric``, loaded on first use."""

    def load(self, reference: str, *, name: str = "") -> Metric:
        """Return the metric of the function that *reference* names."""
        return definition_of(super().load(reference, name=name))


# Names of measures in other packages: functions of a text that return Karat's measure, or None if
# the text is no name of theirs. Where Karat has no such measure, they raise InputError.
MEASURE_NAMES: Registry[Callable[[str], str | None]] = Registry("measure_name", {})

METRICS = MetricRegistry(
    "metric",
    {
        "ndcg": "karat.scoring.metrics.gain:ndcg",
        "dcg": "karat.scoring.metrics.gain:dcg",
        "mrr": "karat.scoring.metrics.precision_recall:mrr",
        "hit": "karat.scoring.metrics.precision_recall:hit",
        "acc": "karat.scoring.metrics.precision_recall:acc",
        "ap": "karat.scoring.metrics.precision_recall:ap",
        "precision": "karat.scoring.metrics.precision_recall:precision",
        "recall": "karat.scoring.metrics.precision_recall:recall",
        "f1": "karat.scoring.metrics.precision_recall:f1",
        "r-precision": "karat.scoring.metrics.precision_recall:r_precision",
        "bpref": "karat.scoring.metrics.precision_recall:bpref",
        "judged": "karat.scoring.metrics.precision_recall:judged_share",
        "err": "karat.scoring.metrics.gain:err",
        "rbp": "karat.scoring.metrics.gain:rbp",
        "alpha-ndcg": "karat.scoring.metrics.diversity:alpha_ndcg",
        "err-ia": "karat.scoring.metrics.diversity:err_ia",
        "nrbp": "karat.scoring.metrics.diversity:nrbp",
        "strec": "karat.scoring.metrics.diversity:strec",
        "set-precision": "karat.scoring.metrics.sets:set_precision",
        "set-recall": "karat.scoring.metrics.sets:set_recall",
        "set-f1": "karat.scoring.metrics.sets:set_f1",
        "line-precision": "karat.scoring.metrics.sets:line_precision",
        "line-iou": "karat.scoring.metrics.sets:line_iou",
        "lines": "karat.scoring.metrics.sets:lines",
        "tokens": "karat.scoring.metrics.sets:tokens",
        "tokens-to-hit": "karat.scoring.metrics.sets:tokens_to_hit",
        "token-recall": "karat.scoring.metrics.sets:token_recall",
        "num-ret": "karat.scoring.metrics.sets:num_ret",
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
        "accuracy": "acc",
        "all-hit": "acc",
        "alpha_ndcg": "alpha-ndcg",
        "err_ia": "err-ia",
        "st-recall": "strec",
        "strecall": "strec",
        "subtopic-recall": "strec",
        "rprec": "r-precision",
        "r_precision": "r-precision",
        "ndcg_cut": "ndcg",
        "map_cut": "ap",
        "set_f1": "set-f1",
        "set_p": "set-precision",
        "setp": "set-precision",
        "setr": "set-recall",
        "setf": "set-f1",
        "set_recall": "set-recall",
        "num_ret": "num-ret",
    },
    listed_by="karat metrics --all",
)
