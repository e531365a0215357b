import type { Results, RunResult } from "@/api/types";
import { colour } from "@/charts/colours";
import { useUrlState } from "@/parts/urlState";

/** The names of all measures that any run has, in the order of the service. */
export function measures(results: Results): string[] {
  return [...new Set(results.runs.flatMap((run) => Object.keys(run.metrics_flat)))];
}

/** Sizes of what was returned: they use no labels. */
const SIZE = /^(lines|tokens)@/i;

/** The mark of scores whose labels may be wrong; a warning explains it. */
export const markOf = (results: Results | undefined, metric: string): string =>
  SIZE.test(metric) ? "" : (results?.score_mark ?? "");

/** The name of *metric* as it was typed. */
export const labelOf = (results: Results | undefined, metric: string): string =>
  results?.labels[metric] ?? metric;

/** The label of a measure with its mark. */
export const marked = (results: Results | undefined, metric: string): string =>
  `${labelOf(results, metric)}${markOf(results, metric)}`;

/** The part of a measure before its cut-off. */
export const stemOf = (name: string): string => name.split("@")[0] ?? name;

/** The label of a metric without its cut-off. */
export function stemLabel(results: Results, stem: string): string {
  const label = labelOf(results, measures(results).find((name) => stemOf(name) === stem) ?? stem);
  return label.includes("@") ? stemOf(label) : stem;
}

/** The measure on view, from the address; the primary one at first. */
export function useMetric(results: Results) {
  return useUrlState("metric", results.primary_metric);
}

const scoredRuns = (results: Results): RunResult[] =>
  results.runs.filter((run) => run.status === "completed");

/** Whether a run has a score of *metric*; one that retrieves less than its k has none. */
export const hasScore = (metric: string) => (run: RunResult) => run.metrics_flat[metric] != null;

/** Whether a smaller value of *metric* is the better one. */
export const isLower = (results: Results, metric: string): boolean =>
  results.lower_is_better.includes(metric);

/** The runs that have ended, by *metric*, best first. */
export function ranked(results: Results, metric: string): RunResult[] {
  const sign = isLower(results, metric) ? -1 : 1;
  const value = (run: RunResult) =>
    sign * (run.metrics_flat[metric] ?? sign * Number.NEGATIVE_INFINITY);
  return scoredRuns(results).sort((a, b) => value(b) - value(a) || a.run_order - b.run_order);
}

/**
 * The runs that no other run beats on the primary measure; none where that is all of them, since a
 * mark that every run has tells nothing.
 */
export function unbeaten({ runs, summary }: Results): ReadonlySet<string> {
  const scored = runs.filter(({ status }) => status === "completed");
  return new Set(summary.best_runs.length < scored.length ? summary.best_runs : []);
}

/** The colour of each run in every chart: the best ones on the primary measure have their own. */
export function colours(results: Results): ReadonlyMap<string, string> {
  return new Map(ranked(results, results.primary_metric).map(({ id }, at) => [id, colour(at)]));
}

export const names = (results: Results): Map<string, string> =>
  new Map(results.runs.map(({ id, name }) => [id, name]));
