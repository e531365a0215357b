import { isActive } from "@/api/benchmarks";
import { useBenchmarkProgress } from "@/api/progress";
import type { Benchmark } from "@/api/types";
import { Badge } from "@/parts/Badge";
import { score } from "@/words/format";
import { stage } from "@/words/stages";

const WORDS = { connecting: "connecting", live: "live", lost: "connection lost, trying again" };

/** How far the work is: all runs, the current run, and what the last one scored. */
export function Progress({ benchmark }: { benchmark: Benchmark }) {
  const { progress, connection } = useBenchmarkProgress(benchmark);
  if (!isActive(benchmark)) return null;
  const current = progress?.current_run ?? null;
  const last = progress?.last_completed_run ?? null;
  const total = progress?.total_runs ?? benchmark.total_runs;
  const ended = progress
    ? progress.completed_runs + progress.failed_runs
    : benchmark.completed_runs + benchmark.failed_runs;
  return (
    <section className="card stack progress" aria-label="Progress">
      <div>
        <div className="row">
          <strong>
            {ended} of {total} runs have ended
          </strong>
          <Badge tone={connection === "lost" ? "warn" : "live"}>{WORDS[connection]}</Badge>
          {progress && !current && <span className="soft">{stage(progress.stage)}</span>}
        </div>
        <progress max={total} value={ended} aria-label="Runs" />
      </div>
      {current && (
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
                <span className="soft">{name}</span> {score(value)}
              </span>
            ))}
        </div>
      )}
      <span className="unseen" role="status">
        {ended} of {total} runs have ended
      </span>
    </section>
  );
}
