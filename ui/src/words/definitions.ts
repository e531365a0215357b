/** What the words of the page mean, in one or two sentences. Metrics and loss reasons are defined by the service. */
export const DEFINITIONS = {
  interval:
    "95 % confidence interval of the mean over queries. To compare two runs, use the paired test: overlapping intervals do not show that there is no difference.",
  best: "★ best: no other run is significantly better on the primary measure. One star is a winner; several stars are a tie.",
  latency:
    "Time of one query, measured after a warm-up. Errors and timeouts are left out. p90 needs 10 timed queries, p99 needs 100. Disturbed: another karat run was active at the same time.",
  answered: "Queries with an answer. Errors and timeouts score 0.",
  invalid:
    "Hits that were left out: unknown document, line range that ends before it begins, or duplicate.",
  baseline:
    "The run that all others are compared with. Select another one here, drag a run here, or press b on it.",
  verdict:
    "Better or worse: the corrected paired test is significant at 5 %, and the interval excludes 0. Otherwise no difference was shown, which does not prove that there is none.",
  difference: "Mean difference from the baseline over the same queries, with its 95 % interval.",
  p: "Probability of a difference at least this large if both runs were equally good (paired test over queries).",
  pCorrected:
    "The p value of the paired test, corrected for all pairs of runs of the benchmark on this measure.",
  effect:
    "Effect size: the mean difference divided by the standard deviation of the differences. 0.2 is small, 0.8 is large.",
  counts: "Queries whose score improved, regressed or stayed the same against the baseline.",
  resolved: "The same mean without targets that do not exist in the searched documents.",
  lossReasons:
    "Every relevant target: found among the first k hits, or the reason why it was lost.",
  betterThan:
    "The letters of the runs that are significantly worse than this one on the primary measure.",
  change:
    "Difference from the baseline, which is the first run with a score on the primary measure. Below it: the p value of the paired test, corrected for all pairs of runs of the benchmark on this measure.",
  firstRank: "At which rank each query has its first relevant hit.",
  ecdf: "The share of queries that were answered within a time. Further left is faster.",
  mapped: "References of the dataset that name exactly one document of the collection.",
  grade: "0 not relevant, 1 marginal, 2 relevant, 3 highly relevant.",
  chunks: "Pieces of documents. A search returns chunks.",
  identical:
    "Both runs returned the same hits in the same order, so their different settings have no effect on this dataset.",
} as const;
