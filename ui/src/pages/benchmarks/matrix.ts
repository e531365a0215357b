import type { ConfigMatrix, Mode } from "@/api/types";

/** A matrix as it is typed: lists of numbers are still text. */
export type Draft = {
  modes: readonly Mode[];
  engines: readonly string[];
  reranker: readonly boolean[];
  /** None means the model of the collection. */
  models: readonly string[];
  rerankers: readonly string[];
  /** Null is a run without contexts. */
  contexts: readonly (string | null)[];
  topK: string;
  rrfK: string;
  thresholds: string;
  primaryK: string;
  metricKs: string;
  fusion: string;
  denseWeight: string;
  k1: string;
  b: string;
  rerankDepth: string;
};

export const PLAIN: Draft = {
  modes: ["dense", "hybrid"],
  engines: [],
  reranker: [false],
  models: [],
  rerankers: ["maxsim"],
  contexts: [null],
  topK: "10",
  rrfK: "default",
  thresholds: "none",
  primaryK: "10",
  metricKs: "1, 5, 10",
  fusion: "default",
  denseWeight: "default",
  k1: "default",
  b: "default",
  rerankDepth: "default",
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
  {
    name: "Weight of embeddings",
    why: "How much should meaning count against words?",
    draft: { ...PLAIN, modes: ["hybrid"], denseWeight: "0.2, 0.4, 0.6, 0.8" },
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

/** Numbers up to *most*, each once; *none* is the word for null. */
function numbers(text: string, most: number, none: string): (number | null)[] | null {
  const found = items(text).map((one) => (one === none ? null : Number(one)));
  const right = found.every((one) => one === null || (one >= 0 && one <= most));
  return found.length > 0 && right ? [...new Set(found)] : null;
}

const DEFAULT = "default";
const isDefault = (text: string): boolean => text.trim() === DEFAULT;

function counts(text: string): (number | null)[] | null {
  const found = numbers(text, DEEPEST, DEFAULT);
  return found?.every((one) => one === null || (Number.isInteger(one) && one > 0)) ? found : null;
}

const FUSIONS = ["rrf", "min-max"] as const;

function fusions(text: string): (typeof FUSIONS)[number][] | null {
  const given = new Set(items(text));
  const found = FUSIONS.filter((one) => given.has(one));
  return found.length > 0 && found.length === given.size ? found : null;
}

/** The matrix that a draft means, or what is wrong with each of its fields. */
export function parse(draft: Draft): Parsed {
  const topK = depths(draft.topK);
  const rrfK = isDefault(draft.rrfK) ? null : depths(draft.rrfK);
  const thresholds = numbers(draft.thresholds, 1, "none");
  const fusion = isDefault(draft.fusion) ? null : fusions(draft.fusion);
  const denseWeight = numbers(draft.denseWeight, 1, DEFAULT);
  const k1 = numbers(draft.k1, DEEPEST, DEFAULT);
  const b = numbers(draft.b, 1, DEFAULT);
  const rerankDepth = counts(draft.rerankDepth);
  const metricKs = depths(draft.metricKs);
  const [primary, ...more] = depths(draft.primaryK) ?? [];
  const whole = `whole numbers from 1 to ${DEEPEST}, with commas between them`;
  const problems: Problems = {
    ...(draft.modes.length || draft.engines.length
      ? {}
      : { modes: "Choose at least one mode or engine." }),
    ...(draft.reranker.length ? {} : { reranker: "Choose at least one." }),
    ...(draft.rerankers.length ? {} : { rerankers: "Choose at least one." }),
    ...(draft.contexts.length ? {} : { contexts: "Choose at least one." }),
    ...(topK ? {} : { topK: `Expected ${whole}.` }),
    ...(rrfK || isDefault(draft.rrfK) ? {} : { rrfK: `Expected ${whole}, or default.` }),
    ...(thresholds ? {} : { thresholds: "Expected numbers from 0 to 1, or none." }),
    ...(fusion || isDefault(draft.fusion)
      ? {}
      : { fusion: `Expected ${FUSIONS.join(" or ")}, or default.` }),
    ...(denseWeight ? {} : { denseWeight: "Expected numbers from 0 to 1, or default." }),
    ...(k1 ? {} : { k1: "Expected numbers from 0, or default." }),
    ...(b ? {} : { b: "Expected numbers from 0 to 1, or default." }),
    ...(rerankDepth ? {} : { rerankDepth: `Expected ${whole}, or default.` }),
    ...(metricKs ? {} : { metricKs: `Expected ${whole}.` }),
    ...(primary && !more.length ? {} : { primaryK: "Expected one whole number." }),
  };
  const tuned = denseWeight && k1 && b && rerankDepth;
  const read = topK && thresholds && metricKs && primary && tuned;
  if (!read || Object.keys(problems).length > 0) return { matrix: null, problems };
  return {
    problems: null,
    matrix: {
      search_modes: [...draft.modes],
      engines: [...draft.engines],
      use_reranker: [...draft.reranker],
      models: draft.models.length > 0 ? [...draft.models] : null,
      rerankers: [...draft.rerankers],
      context: [...draft.contexts],
      top_k_values: topK,
      rrf_k_values: rrfK,
      score_thresholds: thresholds,
      fusion,
      dense_weight: denseWeight,
      k1,
      b,
      code_ranking: [null],
      rerank_depth: rerankDepth,
      primary_k: primary,
      k_values_for_metrics: [...new Set([...metricKs, primary])].sort((a, b) => a - b),
    },
  };
}

/** A name for a benchmark of *matrix*: what it compares, and the questions that it asks. */
export const nameOf = (
  { search_modes, engines }: Pick<ConfigMatrix, "search_modes" | "engines">,
  questions: string,
): string =>
  `${[...(search_modes ?? []), ...(engines ?? [])].join(", ")} on ${questions}`.slice(0, 255);
