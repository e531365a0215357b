"""Files to numbers with ranx: what a user would write."""

import sys

sys.path.pop(0)  # this script has the package's name
from ranx import Qrels, Run, evaluate

names = ["ndcg@10", "mrr@10", "recall@100", "map", "precision@10", "hit_rate@5"]
qrels = Qrels.from_file(sys.argv[1], kind="trec")
run = Run.from_file(sys.argv[2], kind="trec")
print(evaluate(qrels, run, names, make_comparable=True))
