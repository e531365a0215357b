import { useQuery } from "@tanstack/react-query";
import { request } from "./client";
import type {
  Changes,
  Comparison,
  Curves,
  Definitions,
  Details,
  Drilldown,
  QueryResult,
  QueryResults,
  Results,
  ScoreMatrix,
  Slices,
  Trend,
  TwoSides,
} from "./types";

export function useResults(id: string) {
  return useQuery({
    queryKey: ["results", id, "runs"],
    queryFn: ({ signal }) => request<Results>(`/benchmarks/${id}/results`, { signal }),
  });
}

const LARGEST_PAGE = 100;

/** All queries of one run; the pages that the service deals them out in are joined. */
export function useRunQueries(id: string, run: string) {
  return useQuery({
    queryKey: ["results", id, "run", run],
    queryFn: async ({ signal }) => {
      const found: QueryResult[] = [];
      for (let page = 1; ; page++) {
        const next = await request<QueryResults>(`/benchmarks/${id}/runs/${run}/queries`, {
          params: { page, per_page: LARGEST_PAGE },
          signal,
        });
        found.push(...next.results);
        if (found.length >= next.total || next.results.length === 0) return found;
      }
    },
  });
}

export function useComparison(id: string, baseline: string, metric: string) {
  return useQuery({
    queryKey: ["results", id, "comparison", baseline, metric],
    queryFn: ({ signal }) =>
      request<Comparison>(`/benchmarks/${id}/comparison`, { params: { baseline, metric }, signal }),
  });
}

export function useMatrix(id: string, metric: string) {
  return useQuery({
    queryKey: ["results", id, "matrix", metric],
    queryFn: ({ signal }) =>
      request<ScoreMatrix>(`/benchmarks/${id}/matrix`, { params: { metric }, signal }),
  });
}

export function useSlices(id: string, metric: string, by: string | undefined) {
  return useQuery({
    queryKey: ["results", id, "slices", metric, by],
    queryFn: ({ signal }) =>
      request<Slices>(`/benchmarks/${id}/slices`, { params: { metric, by }, signal }),
  });
}

export function useCurves(id: string) {
  return useQuery({
    queryKey: ["results", id, "curves"],
    queryFn: ({ signal }) => request<Curves>(`/benchmarks/${id}/curves`, { signal }),
  });
}

/** What explains the results; computing it would disturb the latency that is being measured. */
export function useDetails(id: string, isEnabled = true) {
  return useQuery({
    queryKey: ["results", id, "details"],
    queryFn: ({ signal }) => request<Details>(`/benchmarks/${id}/details`, { signal }),
    enabled: isEnabled,
  });
}

/** What each metric and each loss reason means; it changes only with the version of the service. */
export function useDefinitions() {
  return useQuery({
    queryKey: ["definitions"],
    queryFn: ({ signal }) => request<Definitions>("/definitions", { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** How the runs differ from earlier ones of the same name. */
export function useChanges(id: string, isEnabled: boolean) {
  return useQuery({
    queryKey: ["results", id, "changes"],
    queryFn: ({ signal }) => request<Changes>(`/benchmarks/${id}/changes`, { signal }),
    enabled: isEnabled,
  });
}

export function useDrilldown(id: string, query: string) {
  return useQuery({
    queryKey: ["results", id, "query", query],
    queryFn: ({ signal }) =>
      request<Drilldown>(`/benchmarks/${id}/queries/${encodeURIComponent(query)}`, { signal }),
  });
}

export function useTwoSides(left: string, right: string, metric: string) {
  return useQuery({
    queryKey: ["results", "compare", left, right, metric],
    queryFn: ({ signal }) =>
      request<TwoSides>("/compare", { params: { left, right, metric }, signal }),
    enabled: left !== "" && right !== "",
  });
}

export function useTrend(dataset: string) {
  return useQuery({
    queryKey: ["results", "trend", dataset],
    queryFn: ({ signal }) => request<Trend>("/trend", { params: { dataset }, signal }),
    enabled: dataset !== "",
  });
}
