import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useVisible } from "@/parts/visible";
import { isActive } from "./benchmarks";
import { type Connection, follow } from "./events";
import type { Benchmark, BenchmarkProgress, JobProgress } from "./types";

/** What changes whenever results do: a run is scored or timed, or the runs were compared. */
function standing({ completed_runs, failed_runs, stage, last_completed_run }: BenchmarkProgress) {
  const last = last_completed_run && [last_completed_run.run_id, last_completed_run.timing_status];
  return JSON.stringify([completed_runs, failed_runs, stage === "comparing", last]);
}

/** How far a running benchmark is, and whether the page still hears of it. */
export function useBenchmarkProgress(benchmark: Benchmark) {
  const client = useQueryClient();
  const [progress, setProgress] = useState<BenchmarkProgress | null>(null);
  const [connection, setConnection] = useState<Connection>("connecting");
  const active = isActive(benchmark);
  // A browser opens six connections to one server for all of its tabs; a hidden one must hold none.
  const visible = useVisible();
  const { id } = benchmark;
  useEffect(() => {
    if (!active || !visible) return;
    const control = new AbortController();
    let seen = "";
    let status = "";
    const onEvent = (event: BenchmarkProgress) => {
      setProgress(event);
      // Otherwise it would be shown as queued until it is asked for again.
      if (event.status !== status) client.invalidateQueries({ queryKey: ["benchmarks"] });
      status = event.status;
      const now = standing(event);
      if (now !== seen) client.invalidateQueries({ queryKey: ["results", id] });
      seen = now;
      if (!isActive(event)) {
        control.abort();
        client.invalidateQueries({ queryKey: ["results", id] });
      }
    };
    follow(`/benchmarks/${id}/events`, { onEvent, onConnection: setConnection }, control.signal);
    return () => control.abort();
  }, [active, visible, id, client]);
  return { progress: active ? progress : null, connection };
}

/** How far an indexing or a resolving is; *onEnd* is called once, with the last event. */
export function useJobProgress(operation: string | null, onEnd: (last: JobProgress) => void) {
  const [progress, setProgress] = useState<JobProgress | null>(null);
  useEffect(() => {
    if (operation === null) return;
    const control = new AbortController();
    const onEvent = (event: JobProgress) => {
      setProgress(event);
      if (event.status === "pending" || event.status === "running") return;
      control.abort();
      onEnd(event);
    };
    const path = `/operations/${operation}/events`;
    follow(path, { onEvent, onConnection: () => {} }, control.signal);
    return () => control.abort();
  }, [operation, onEnd]);
  return progress;
}
