/** What may become of a relevant target, in the order, words and shades of the HTML report. */
export const FATES: readonly { name: string; shade: string; means: string }[] = [
  { name: "found", shade: "h5", means: "in the first k" },
  { name: "too low", shade: "h3", means: "returned below rank k" },
  { name: "threshold", shade: "f2", means: "in the first k, but below the threshold" },
  { name: "reranker", shade: "f3", means: "moved below rank k by the reranker" },
  { name: "fusion", shade: "f4", means: "in the first k of one stage, below that when joined" },
  { name: "not returned", shade: "f5", means: "not among the hits returned" },
  { name: "in no chunk", shade: "f6", means: "no chunk of the index covers it" },
  { name: "not in corpus", shade: "f7", means: "its file is not among those searched" },
  { name: "unanswered", shade: "hx", means: "its query failed" },
];
