import type { ConfigMatrix, Mode } from "@/api/types";

/** A matrix as it is typed: lists of numbers are still text. */
export type Draft = {
  modes: readonly Mode[];
  engines: readonly string[];
  reranker: readonly boolean[];
  topK: string;
  rrfK: string;
  thresholds: string;
  primaryK: string;
  metricKs: string;
};

export const PLAIN: Draft = {
  modes: ["dense", "hybrid"],
  engines: [],
  reranker: [false],
  topK: "10",
  rrfK: "60",
  thresholds: "none",
  primaryK: "10",
  metricKs: "1, 5, 10",
};

export const PRESETS: readonly { name: string; why: string; draft: Draft }[] = [
  {
    name: "Dense against hybrid",
    why: "Does keyword search improve dense search?",
    draft: PLAIN,
  },
  {
    name: "Reranker on and off",
    why: "Is the reranker worth its time?",
    draft: { ...PLAIN, modes: ["dense"], reranker: [false, true], topK: "10, 20" },
  },
  {
    name: "Top-k sensitivity",
    why: "How many hits are needed?",
    draft: { ...PLAIN, modes: ["dense"], topK: "5, 10, 20, 50", metricKs: "1, 5, 10, 20, 50" },
  },
  {
    name: "All modes",
    why: "Which of the three wins?",
    draft: { ...PLAIN, modes: ["dense", "sparse", "hybrid"] },
  },
];

type Problems = Partial<Record<keyof Draft, string>>;
export type Parsed =
  | { matrix: ConfigMatrix; problems: null }
  | { matrix: null; problems: Problems };

const DEEPEST = 1000;

const items = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

function depths(text: string): number[] | null {
  const found = [...new Set(items(text).map(Number))];
  const right = found.every((one) => Number.isInteger(one) && one >= 1 && one <= DEEPEST);
  return found.length > 0 && right ? found : null;
}

function cuts(text: string): (number | null)[] | null {
  const found = items(text).map((one) => (one === "none" ? null : Number(one)));
  const right = found.every((one) => one === null || (one >= 0 && one <= 1));
  return found.length > 0 && right ? [...new Set(found)] : null;
}

/** The matrix that a draft means, or what is wrong with each of its fields. */
export function parse(draft: Draft): Parsed {
  const topK = depths(draft.topK);
  const rrfK = depths(draft.rrfK);
  const thresholds = cuts(draft.thresholds);
  const metricKs = depths(draft.metricKs);
  const [primary, ...more] = depths(draft.primaryK) ?? [];
  const whole = `whole numbers from 1 to ${DEEPEST}, with commas between them`;
  const problems: Problems = {
    ...(draft.modes.length || draft.engines.length
      ? {}
      : { modes: "Choose at least one mode or engine." }),
    ...(draft.reranker.length ? {} : { reranker: "Choose at least one." }),
    ...(topK ? {} : { topK: `Expected ${whole}.` }),
    ...(rrfK ? {} : { rrfK: `Expected ${whole}.` }),
    ...(thresholds ? {} : { thresholds: "Expected numbers from 0 to 1, or none." }),
    ...(metricKs ? {} : { metricKs: `Expected ${whole}.` }),
    ...(primary && !more.length ? {} : { primaryK: "Expected one whole number." }),
  };
  if (!topK || !rrfK || !thresholds || !metricKs || !primary || Object.keys(problems).length > 0) {
    return { matrix: null, problems };
  }
  return {
    problems: null,
    matrix: {
      search_modes: [...draft.modes],
      engines: [...draft.engines],
      use_reranker: [...draft.reranker],
      top_k_values: topK,
      rrf_k_values: rrfK,
      score_thresholds: thresholds,
      primary_k: primary,
      k_values_for_metrics: [...new Set([...metricKs, primary])].sort((a, b) => a - b),
    },
  };
}
