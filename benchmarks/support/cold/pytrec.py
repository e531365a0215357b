"""Files to numbers with pytrec_eval: what a user would write."""

import sys

import pytrec_eval

with open(sys.argv[1], encoding="utf-8") as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2], encoding="utf-8") as file:
    run = pytrec_eval.parse_run(file)
names = {"ndcg_cut.10", "recip_rank", "recall.100", "map", "P.10", "success.5"}
scores = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
for name in next(iter(scores.values())):
    print(name, sum(values[name] for values in scores.values()) / len(scores))
