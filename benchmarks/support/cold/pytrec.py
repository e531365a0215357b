"""Files to numbers with pytrec_eval: what a user would write."""

import sys
from pathlib import Path

import pytrec_eval

with Path(sys.argv[1]).open(encoding="utf-8") as file:
    qrels = pytrec_eval.parse_qrel(file)
with Path(sys.argv[2]).open(encoding="utf-8") as file:
    run = pytrec_eval.parse_run(file)
names = {"ndcg_cut.10", "recip_rank", "recall.100", "map", "P.10", "success.5"}
scores = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
for name in next(iter(scores.values())):
    print(name, sum(values[name] for values in scores.values()) / len(scores))
