import type {
  Benchmark,
  Collection,
  Comparison,
  ComparisonRun,
  Dataset,
  Definitions,
  Details,
  Drilldown,
  DrilldownRun,
  Mapping,
  Results,
  RunResult,
  ScoreMatrix,
} from "@/api/types";

const WHEN = "2026-03-01T10:00:00Z";

/** An id that reads as what it names. */
export const uuid = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

export const dataset = (more: Partial<Dataset> = {}): Dataset => ({
  id: uuid(1),
  name: "Handbook questions",
  description: "",
  owner_id: "local",
  query_count: 3,
  schema_version: "1.0",
  created_at: WHEN,
  updated_at: WHEN,
  version: 1,
  ...more,
});

export const collection = (more: Partial<Collection> = {}): Collection => ({
  id: uuid(2),
  name: "Handbook",
  description: "",
  owner_id: "local",
  source: {
    kind: "folder",
    path: "/srv/handbook",
    revision: null,
    files: { kind: "all", include: [], exclude: [] },
  },
  status: "ready",
  error_message: null,
  chunker: "auto",
  dense: { state: "ready", model: "minilm", dimension: 384, vectors: 120 },
  sparse: { state: "ready" },
  document_count: 40,
  chunk_count: 120,
  snapshot: "ab",
  created_at: WHEN,
  updated_at: WHEN,
  operation_uuid: uuid(12),
  ...more,
});

export const mapping = (more: Partial<Mapping> = {}): Mapping => ({
  id: uuid(3),
  dataset_id: uuid(1),
  collection_id: uuid(2),
  mapping_status: "resolved",
  mapped_count: 5,
  total_count: 5,
  created_at: WHEN,
  resolved_at: WHEN,
  ...more,
});

export const benchmark = (more: Partial<Benchmark> = {}): Benchmark => ({
  id: uuid(4),
  name: "Dense against hybrid",
  description: "",
  owner_id: "local",
  mapping_id: uuid(3),
  dataset_id: uuid(1),
  dataset_name: "Handbook questions",
  collection_id: uuid(2),
  collection_name: "Handbook",
  status: "completed",
  error_message: null,
  queue_position: null,
  is_stopping: false,
  total_runs: 2,
  completed_runs: 2,
  failed_runs: 0,
  best_run: { run_id: `${uuid(5)}.1`, name: "hybrid k=10", metric: "ndcg@10", mean: 0.7 },
  created_at: WHEN,
  started_at: WHEN,
  completed_at: WHEN,
  operation_uuid: uuid(14),
  commit: null,
  config_matrix: {
    search_modes: ["dense", "hybrid"],
    engines: [],
    use_reranker: [false],
    rerankers: ["maxsim"],
    context: [null],
    top_k_values: [10],
    rrf_k_values: [60],
    score_thresholds: [null],
    fusion: ["rrf"],
    dense_weight: [null],
    k1: [null],
    b: [null],
    code_ranking: [null],
    rerank_depth: [null],
    primary_k: 10,
    k_values_for_metrics: [1, 5, 10],
  },
  timing: "sample",
  judge_labels: "exclude",
  warning: null,
  annotations: [],
  ...more,
});

const RUNS = ["dense", "hybrid"] as const;
export const runId = (at: number): string => `${uuid(5)}.${at}`;

export function run(at: number, ndcg: number, more: Partial<RunResult> = {}): RunResult {
  const mode = RUNS[at] ?? "sparse";
  return {
    id: runId(at),
    run_order: at,
    name: `${mode} k=10`,
    config_hash: `hash${at}`,
    snapshot: `snapshot${at}`,
    config: {
      search_mode: mode,
      engine: null,
      use_reranker: false,
      top_k: 10,
      rrf_k: null,
      score_threshold: null,
    },
    status: "completed",
    error_message: null,
    metrics: { mrr: ndcg, ap: ndcg, precision: {}, recall: {}, ndcg: { "10": ndcg } },
    metrics_flat: { "ndcg@10": ndcg, "ndcg@5": ndcg - 0.02, "recall@10": ndcg, mrr: ndcg },
    resolved_metrics_flat: null,
    intervals: { "ndcg@10": [ndcg - 0.05, ndcg + 0.05] },
    timing: { indexing_ms: 10, evaluation_ms: 20, total_ms: 30 },
    timing_status: "done",
    latency: {
      p50: 4 + 6 * at,
      p90: 8,
      p95: 9,
      p99: 12,
      samples: 3,
      measured: true,
      disturbed: false,
    },
    answered: 3,
    errors: 0,
    timeouts: 0,
    invalid: 0,
    fates: { found: 3, "too low": 1, "not returned": 2, unanswered: 0 },
    warnings: [],
    identical_to: [],
    ...more,
  };
}

export const results = (more: Partial<Results> = {}): Results => ({
  benchmark_id: uuid(4),
  status: "completed",
  primary_k: 10,
  primary_metric: "ndcg@10",
  k_values_for_metrics: [5, 10],
  query_count: 3,
  judgments_version: 1,
  labels: {},
  lower_is_better: [],
  score_mark: "",
  loss_reasons: [
    { name: "found", label: "found", definition: "in the first 10 hits", shade: "h5" },
    {
      name: "too low",
      label: "ranked below k",
      definition: "returned below rank 10",
      shade: "h3",
    },
    {
      name: "not returned",
      label: "not retrieved",
      definition: "not among the hits returned",
      shade: "f5",
    },
    {
      name: "unanswered",
      label: "query not answered",
      definition: "its query failed",
      shade: "hx",
    },
  ],
  runs: [run(0, 0.6), run(1, 0.7)],
  summary: {
    total_runs: 2,
    completed_runs: 2,
    failed_runs: 0,
    best_run: runId(1),
    best_primary_metric: 0.7,
    best_runs: [runId(1)],
    headline: "hybrid k=10 is significantly better than dense k=10 on ndcg@10.",
    comparison: "hybrid k=10 is better than dense k=10: ndcg@10 +0.100. 3 queries can detect 0.3.",
  },
  total_runs: 2,
  ...more,
});

/** What explains the results of the two runs. */
export const details = (more: Partial<Details> = {}): Details => ({
  warnings: [],
  not_comparable: [],
  recommendations: [
    {
      purpose: "Best quality",
      run: "hybrid k=10",
      run_id: runId(1),
      why: "ndcg@10 0.700",
      certainty: "First in 99% of resampled query sets.",
    },
  ],
  insights: ["Queries of category deploy are hardest (n = 12): mean ndcg@10 0.500."],
  remarks: [],
  run_notes: { [runId(0)]: ["3 queries: 0 missing"], [runId(1)]: [] },
  standings: [
    { run_id: runId(1), letter: "B", better_than: "A", difference: 0.1, p: 0.01 },
    { run_id: runId(0), letter: "A", better_than: "-", difference: null, p: null },
  ],
  change_of: "ndcg@10",
  baseline: runId(0),
  first_ranks: {
    names: ["1", "2-3", "not found"],
    runs: { [runId(0)]: [1, 1, 1], [runId(1)]: [2, 1, 0] },
  },
  pareto: { "ndcg@10": [runId(0), runId(1)] },
  latency_steps: [{ run_id: runId(0), milliseconds: [1, 2, 4], shares: [0.3, 0.7, 1] }],
  tables: [
    {
      title: "Latency",
      columns: [
        { title: "run", numeric: false },
        { title: "p50 ms", numeric: true },
      ],
      rows: [
        [
          { text: "dense k=10", value: "dense k=10" },
          { text: "4.00", value: 4 },
        ],
      ],
      notes: ["percentiles by linear interpolation"],
    },
  ],
  sections: [],
  method: [{ name: "Matching", text: "exact" }],
  ...more,
});

export const definitions = (): Definitions => ({
  metrics: [
    {
      name: "ndcg",
      aliases: [],
      definition: "How near the ranking is to the ideal one.",
      formula: "DCG / IDCG",
      higher_is_better: true,
    },
    {
      name: "recall",
      aliases: [],
      definition: "The share of relevant targets that were found.",
      formula: "found / relevant",
      higher_is_better: true,
    },
  ],
  loss_reasons: results().loss_reasons,
});

const QUERIES = ["set up tokens", "deploy with docker", "rotate the logs"] as const;

export const matrix = (metric = "ndcg@10"): ScoreMatrix => ({
  metric,
  queries: ["q1", "q2", "q3"],
  texts: [...QUERIES],
  tags: { category: ["auth", "deploy", "deploy"] },
  runs: [runId(0), runId(1)],
  values: [
    [0.5, 1],
    [1, 0.5],
    [0.25, 0.25],
  ],
});

const UNTESTED = { difference: null, low: null, high: null, p: null, p_corrected: null };
const compared = (at: number, more: Partial<ComparisonRun>): ComparisonRun => ({
  run_id: runId(at),
  name: `${RUNS[at]} k=10`,
  mean: 0.6 + 0.1 * at,
  ...UNTESTED,
  effect: null,
  improved: 0,
  regressed: 0,
  tied: 3,
  verdict: "baseline",
  ...more,
});

/** The two runs against either of them: one query rises, one falls, one stays. */
export function comparison(baseline = runId(0), metric = "ndcg@10"): Comparison {
  const counts = { improved: 1, regressed: 1, tied: 1 };
  const other = { ...counts, p: 0.25, p_corrected: 0.5, verdict: "no difference shown" } as const;
  return {
    baseline,
    metric,
    runs: [0, 1].map((at) => compared(at, runId(at) === baseline ? {} : other)),
    headline: "No significant difference.",
    verdict: "No difference was shown.",
  };
}

function answered(at: number, paths: readonly string[], relevant: string): DrilldownRun {
  return {
    run_id: runId(at),
    name: `${RUNS[at]} k=10`,
    status: "scored",
    retrieved: paths.length,
    metrics: { "ndcg@10": at ? 1 : 0.5 },
    hits: paths.map((path, rank) => ({
      rank: rank + 1,
      path,
      start_line: 2,
      end_line: 3,
      symbol: "",
      score: 1 / (rank + 1),
      grade: path === relevant ? 3 : null,
      relevant: path === relevant,
    })),
    error: null,
    search_time_ms: 4,
    rerank_time_ms: null,
  };
}

export const drilldown = (): Drilldown => ({
  query: { query_id: "q1", query_key: "q1", query_text: QUERIES[0], tags: { category: "auth" } },
  targets: [
    {
      path: "docs/tokens.md",
      start_line: 2,
      end_line: 3,
      symbol: "",
      grade: 3,
      found_at: { [runId(0)]: null, [runId(1)]: 1 },
      lost: { [runId(0)]: "below the first 10" },
    },
  ],
  runs: [
    answered(0, ["docs/a.md", "docs/b.md"], "docs/tokens.md"),
    answered(1, ["docs/tokens.md", "docs/a.md"], "docs/tokens.md"),
  ],
});
