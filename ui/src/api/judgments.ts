import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { request } from "./client";
import { gradeQueue } from "./gradeQueue";
import type {
  Dataset,
  HitOrder,
  JudgmentEdit,
  JudgmentHistory,
  Judgments,
  Unjudged,
} from "./types";

// More than anybody grades before the list is fetched anew.
const PER_PAGE = 100;
// A reader who goes on within this time does not look at the list, or at statistics, yet.
const LIST_MS = 250;
const STATISTICS_MS = 1500;

export function useUnjudged(
  dataset: string,
  benchmark: string | undefined,
  page: number,
  order: HitOrder,
) {
  return useQuery({
    queryKey: ["judgments", dataset, "unjudged", benchmark, page, order],
    queryFn: ({ signal }) =>
      request<Unjudged>(`/benchmark-datasets/${dataset}/unjudged`, {
        params: { benchmark, page, per_page: PER_PAGE, order },
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

/**
 * Grades that are saved in the background. The list of hits is fetched anew when none is left to
 * save; statistics are only marked as out of date, since whoever judges looks at none.
 */
export function useGradeQueue(dataset: string) {
  const client = useQueryClient();
  const queue = gradeQueue(dataset);
  const state = useSyncExternalStore(queue.subscribe, queue.snapshot);
  const { saved, unsaved } = state;
  const before = useRef(saved);
  useEffect(() => {
    if (saved === before.current || unsaved > 0) return;
    const stale = (queryKey: string[], refetchType: "none" | "active") =>
      client.invalidateQueries({ queryKey, refetchType });
    stale(["results"], "none");
    stale(["datasets", dataset], "none");
    const timer = setTimeout(() => {
      before.current = saved;
      stale(["judgments", dataset], "active");
    }, LIST_MS);
    return () => clearTimeout(timer);
  }, [saved, unsaved, dataset, client]);
  return { queue, ...state };
}

/** Gives a grade, or takes the last one back; results are scored anew after a pause. */
export function useJudge(dataset: string) {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const refresh = (key: string[]) => client.invalidateQueries({ queryKey: key });
  const rescore = (ms: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => refresh(["results"]), ms);
  };
  const onSuccess = ({ version }: Judgments) => {
    client.setQueryData<Dataset>(["datasets", dataset], (known) => known && { ...known, version });
    refresh(["judgments", dataset]);
    rescore(STATISTICS_MS);
  };
  // Somebody else may have judged: what they have done is shown at once.
  const onError = () => {
    refresh(["judgments", dataset]);
    refresh(["datasets", dataset]);
    rescore(0);
  };
  const path = `/benchmark-datasets/${dataset}/judgments`;
  const judge = useMutation({
    mutationFn: (json: JudgmentEdit) => request<Judgments>(path, { method: "PUT", json }),
    onSuccess,
    onError,
  });
  const undo = useMutation({
    mutationFn: () => request<Judgments>(path, { method: "DELETE" }),
    onSuccess,
    onError,
  });
  return { judge, undo };
}
