/** What each number on the page means, in one or two sentences. */
const MEASURES: Record<string, string> = {
  ndcg: "How near the ranking is to the ideal one: gains discounted by log2(rank + 1), divided by the best that the judgments allow. 0 to 1.",
  mrr: "1 divided by the rank of the first relevant result, averaged over the queries; 0 where there is none.",
  ap: "Precision at the rank of each relevant result, averaged over all that are relevant.",
  recall: "The share of all relevant documents that were found.",
  precision: "The share of the results that are relevant.",
  hit: "The share of queries with at least one relevant result.",
  f1: "The harmonic mean of precision and recall.",
};

export const DEFINITIONS = {
  interval:
    "95 % confidence interval of the mean over queries. Two runs on the same queries are compared by a paired test, not by whether their intervals overlap.",
  best: "Marked: every run that is not worse than the best one beyond the noise. A single mark is a real winner.",
  latency:
    "Time of one query in milliseconds, after a warm-up; percentiles by linear interpolation. Errors and timeouts are left out. p95 needs 20 timed queries, p99 needs 100. Disturbed: other runs worked on the machine at the same time.",
  answered: "Queries that were answered. Errors and timeouts count 0 in every score.",
  invalid:
    "Results that could not be counted: an unknown document, a line range that ends before it begins, a duplicate.",
  baseline:
    "The run that all others are held against. Choose another here, drag a run here, or press b on it.",
  verdict:
    "Better or worse where the corrected paired test shows a difference at 5 %; otherwise none was shown, which does not prove that there is none.",
  difference: "Mean difference to the baseline over the same queries, with its 95 % interval.",
  p: "Probability of a difference at least this large if the two runs were equally good: a paired test over the queries.",
  pCorrected: "The same, corrected for all runs that were tested against the baseline.",
  effect:
    "The mean difference divided by the standard deviation of the differences. 0.2 is small, 0.8 large.",
  counts: "Queries whose score rose, fell, or stayed the same against the baseline.",
  resolved: "The same mean when references that name no document are left out of the truth.",
  fates:
    "Every relevant place, by whether the run found it or where it was lost: in the corpus, the chunks, the retrieval, the joining, the reranking, the threshold, or below k.",
  mapped: "References of the dataset that name exactly one document of the collection.",
  grade: "0 not relevant, 1 marginal, 2 relevant, 3 highly relevant.",
  chunks: "Pieces that documents are cut into; a search returns pieces.",
  identical: "The ranking is the same, hit for hit, so one of the two settings has no effect here.",
} as const;

/** The definition of a measure such as `ndcg@10`, with its cut-off in words. */
export function measure(name: string): string {
  const [stem = name, k] = name.split("@");
  const meaning = MEASURES[stem.toLowerCase()] ?? `The measure ${stem}.`;
  return k ? `${meaning} Only the first ${k} results count.` : meaning;
}
