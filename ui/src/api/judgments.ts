import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "./client";
import type { JudgmentEdit, JudgmentHistory, Judgments, Unjudged } from "./types";

export function useUnjudged(dataset: string, benchmark: string | undefined, page: number) {
  return useQuery({
    queryKey: ["judgments", dataset, "unjudged", benchmark, page],
    queryFn: ({ signal }) =>
      request<Unjudged>(`/benchmark-datasets/${dataset}/unjudged`, {
        params: { benchmark, page },
        signal,
      }),
    placeholderData: (before) => before,
    enabled: benchmark !== undefined,
  });
}

export function useHistory(dataset: string) {
  return useQuery({
    queryKey: ["judgments", dataset, "history"],
    queryFn: ({ signal }) =>
      request<JudgmentHistory>(`/benchmark-datasets/${dataset}/judgments/history`, { signal }),
    enabled: dataset !== "",
  });
}

/** Gives a grade, or takes the last one back; results are scored anew by either. */
export function useJudge(dataset: string) {
  const client = useQueryClient();
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["judgments", dataset] }),
      client.invalidateQueries({ queryKey: ["results"] }),
      client.invalidateQueries({ queryKey: ["datasets", dataset] }),
    ]);
  const path = `/benchmark-datasets/${dataset}/judgments`;
  const judge = useMutation({
    mutationFn: (json: JudgmentEdit) => request<Judgments>(path, { method: "PUT", json }),
    onSettled: refresh,
  });
  const undo = useMutation({
    mutationFn: () => request<Judgments>(path, { method: "DELETE" }),
    onSettled: refresh,
  });
  return { judge, undo };
}
