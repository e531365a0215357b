import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "./client";
import type {
  Annotation,
  Benchmark,
  BenchmarkCreate,
  BenchmarkStatus,
  Benchmarks,
  ConfigMatrix,
  Example,
  Preview,
  Started,
} from "./types";

const ACTIVE = new Set<BenchmarkStatus>(["queued", "running"]);

export const isActive = (benchmark: Pick<Benchmark, "status">): boolean =>
  ACTIVE.has(benchmark.status);

export function useBenchmarks(options: { status?: string; page?: number; perPage?: number } = {}) {
  const { status, page = 1, perPage = 50 } = options;
  return useQuery({
    queryKey: ["benchmarks", "list", status, page, perPage],
    queryFn: ({ signal }) =>
      request<Benchmarks>("/benchmarks", {
        params: { status_filter: status, page, per_page: perPage },
        signal,
      }),
    // Whoever else works here starts and ends benchmarks too.
    refetchInterval: (query) => (query.state.data?.benchmarks.some(isActive) ? 2000 : 15_000),
  });
}

export function useBenchmark(id: string, isEnabled = true) {
  return useQuery({
    queryKey: ["benchmarks", "one", id],
    queryFn: ({ signal }) => request<Benchmark>(`/benchmarks/${id}`, { signal }),
    // Somebody else may start or cancel it; a run that has ended changes no more.
    refetchInterval: ({ state: { data } }) => {
      if (!data) return false;
      if (data.is_stopping) return 1000;
      return data.status === "pending" || isActive(data) ? 3000 : false;
    },
    enabled: isEnabled,
  });
}

/** The greatest depth of a matrix, which is that of the benchmark. */
export const depth = ({ top_k_values }: ConfigMatrix): number =>
  Math.max(...(top_k_values ?? [10]));

/** The exact runs of a matrix, asked of the server, which alone decides what multiplies. */
export function usePreview(matrix: ConfigMatrix | null, mapping: string | undefined) {
  return useQuery({
    queryKey: ["preview", matrix, mapping],
    queryFn: ({ signal }) =>
      request<Preview>("/benchmarks/preview", {
        method: "POST",
        json: { config_matrix: matrix, top_k: matrix && depth(matrix), mapping_id: mapping },
        signal,
      }),
    placeholderData: (before) => before,
    retry: false,
    enabled: matrix !== null,
  });
}

export function useCreateBenchmark() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (json: BenchmarkCreate) =>
      request<Benchmark>("/benchmarks", { method: "POST", json }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["benchmarks"] }),
  });
}

const POLL_MS = 700;

/** Creates the example benchmark; the request is repeated until its documents are indexed. */
export function useExample() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      for (;;) {
        const made = await request<Example>("/examples", { method: "POST" });
        if (made.status !== "indexing") return made;
        await new Promise((done) => setTimeout(done, POLL_MS));
      }
    },
    onSettled: () => client.invalidateQueries(),
  });
}

type Verb = "start" | "cancel";

/** Starts or cancels. A start carries a key, so that a double click starts once. */
export function useControl(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (verb: Verb) =>
      request<Started>(`/benchmarks/${id}/${verb}`, {
        method: "POST",
        headers: verb === "start" ? { "Idempotency-Key": crypto.randomUUID() } : {},
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ["benchmarks"] }),
  });
}

export function useDeleteBenchmark() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request<void>(`/benchmarks/${id}`, { method: "DELETE" }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["benchmarks", "list"] }),
  });
}

export function useAnnotate(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (text: string) =>
      request<Annotation>(`/benchmarks/${id}/annotations`, { method: "POST", json: { text } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["benchmarks"] }),
  });
}
