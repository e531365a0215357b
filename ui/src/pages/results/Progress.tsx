import { isActive } from "@/api/benchmarks";
import { useBenchmarkProgress } from "@/api/progress";
import { useResults } from "@/api/results";
import type { Benchmark } from "@/api/types";
import { Badge } from "@/parts/Badge";
import { score } from "@/words/format";
import { queued, stage, waiting } from "@/words/stages";
import { labelOf } from "./metrics";

const WORDS = { connecting: "connecting", live: "live", lost: "connection lost, trying again" };

/** How far the work is: all runs, the current run, and the scores of the last one. */
export function Progress({ benchmark }: { benchmark: Benchmark }) {
  const { progress, connection } = useBenchmarkProgress(benchmark);
  const results = useResults(benchmark.id).data;
  if (!isActive(benchmark)) return null;
  const { queue_position: position } = benchmark;
  if (position !== null)
    return (
      <section className="card progress" aria-label="Progress">
        <p role="status">{queued(position)}</p>
      </section>
    );
  const current = progress?.current_run ?? null;
  const last = progress?.last_completed_run ?? null;
  const total = progress?.total_runs ?? benchmark.total_runs;
  const { completed_runs: scored, failed_runs: failed } = progress ?? benchmark;
  const told = `${scored} of ${total} runs scored${failed > 0 ? `, ${failed} failed` : ""}`;
  return (
    <section className="card stack progress" aria-label="Progress">
      <div>
        <div className="row">
          <strong>{told}</strong>
          <Badge tone={connection === "lost" ? "warn" : "live"}>{WORDS[connection]}</Badge>
          {progress && (!current || progress.stage === "comparing") && (
            <span className="soft">{stage(progress.stage)}</span>
          )}
        </div>
        <progress max={total} value={scored + failed} aria-label="Runs" />
      </div>
      {current?.stage === "waiting" && (
        <p>
          {waiting(current.waiting_for)}
          {scored === total && " The scores below are complete."}
        </p>
      )}
      {current && current.stage !== "waiting" && (
        <div>
          <div className="row">
            <span className="anywhere">{current.config_summary}</span>
            <span className="soft">
              {stage(current.stage)}, {current.completed_queries} of {current.total_queries} queries
            </span>
          </div>
          <progress
            max={Math.max(1, current.total_queries)}
            value={current.completed_queries}
            aria-label="Queries of the current run"
          />
        </div>
      )}
      {last?.metrics_flat && (
        <div className="row">
          <span className="soft">Last: {last.config_summary}</span>
          {Object.entries(last.metrics_flat)
            .slice(0, 5)
            .map(([name, value]) => (
              <span key={name}>
                <span className="soft">{labelOf(results, name)}</span> {score(value)}
              </span>
            ))}
        </div>
      )}
      <span className="unseen" role="status">
        {told}
      </span>
    </section>
  );
}
