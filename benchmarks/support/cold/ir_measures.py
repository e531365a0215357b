"""Files to numbers with ir_measures: what a user would write."""

import sys

sys.path.pop(0)  # this script has the package's name
import ir_measures

NAMES = ("nDCG@10", "RR", "R@100", "AP", "P@10", "Success@5")
measures = [ir_measures.parse_measure(name) for name in NAMES]
qrels = ir_measures.read_trec_qrels(sys.argv[1])
run = ir_measures.read_trec_run(sys.argv[2])
print(ir_measures.calc_aggregate(measures, qrels, run))
