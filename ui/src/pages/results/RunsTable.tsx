import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import type { Results, RunResult } from "@/api/types";
import { Badge, Status } from "@/parts/Badge";
import { type Column, DataTable } from "@/parts/DataTable";
import { Term } from "@/parts/Term";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS, measure } from "@/words/definitions";
import { interval, milliseconds, plural, score } from "@/words/format";
import { measures, names } from "./metrics";

type Props = { id: string; results: Results; metric: string };

/** The configurations, sortable by every number; the best are marked only where that is real. */
export function RunsTable({ id, results, metric }: Props) {
  const [k, setK] = useUrlState("k", String(results.primary_k));
  const [, navigate] = useLocation();
  const columns = useMemo(() => columnsOf(id, results, k, metric), [id, results, k, metric]);
  return (
    <div className="stack">
      <fieldset className="row">
        <legend className="unseen">Cut-off</legend>
        <span className="soft">Cut-off</span>
        {[...results.k_values_for_metrics.map(String), "all"].map((one) => (
          <button
            key={one}
            type="button"
            className="button small"
            aria-pressed={k === one}
            onClick={() => setK(one)}
          >
            {one === "all" ? "every k" : `k = ${one}`}
          </button>
        ))}
        <span className="soft">
          {results.query_count} queries. ★ <Term means={DEFINITIONS.best}>best</Term>
        </span>
      </fieldset>
      <DataTable
        label="Runs"
        columns={columns}
        rows={results.runs}
        rowKey={(run) => run.id}
        order={`-${results.primary_metric}`}
        onOpen={(run) => navigate(`/benchmarks/${id}/runs/${run.id}`)}
      />
    </div>
  );
}

function columnsOf(id: string, results: Results, k: string, metric: string): Column<RunResult>[] {
  const shown = measures(results).filter((name) => {
    const [, cut] = name.split("@");
    return (
      cut === undefined ||
      k === "all" ||
      cut === k ||
      name === metric ||
      name === results.primary_metric
    );
  });
  const name = names(results);
  const best = new Set(results.summary.best_runs);
  return [
    {
      id: "name",
      header: "Run",
      sort: (run) => run.name.toLowerCase(),
      cell: (run) => <RunName id={id} run={run} best={best.has(run.id)} names={name} />,
    },
    ...shown.map((one) => ({
      id: one,
      header: one,
      means: measure(one),
      numeric: true,
      sort: (run: RunResult) => run.metrics_flat[one],
      cell: (run: RunResult) => (
        <Mean run={run} metric={one} both={one === results.primary_metric} />
      ),
    })),
    ...latencyColumns(results),
    {
      id: "answered",
      header: "Answered",
      means: DEFINITIONS.answered,
      numeric: true,
      sort: (run) => run.answered,
      cell: ({ answered, errors, timeouts, invalid }) => (
        <>
          {answered}
          {errors > 0 && <small className="loss">{plural(errors, "error")}</small>}
          {timeouts > 0 && <small className="loss">{plural(timeouts, "timeout")}</small>}
          {invalid > 0 && <small>{invalid} invalid</small>}
        </>
      ),
    },
    // Where all are completed it says nothing, and would take the room of a number.
    ...(results.runs.every(({ status }) => status === "completed")
      ? []
      : [
          {
            id: "status",
            header: "Status",
            sort: (run: RunResult) => run.status,
            cell: (run: RunResult) => <Status of={run.status} />,
          },
        ]),
  ];
}

const UNTIMED: Record<RunResult["timing_status"], string> = {
  none: "not measured",
  pending: "not measured yet",
  done: "–",
  failed: "failed",
  cancelled: "cancelled",
};

/** The percentiles, or one column that says why there are none. */
function latencyColumns(results: Results): Column<RunResult>[] {
  if (!results.runs.some(({ latency }) => latency.measured))
    return [
      {
        id: "latency",
        header: "Latency",
        means: DEFINITIONS.latency,
        numeric: true,
        sort: (run) => run.timing_status,
        cell: (run) => <span className="soft">{UNTIMED[run.timing_status]}</span>,
      },
    ];
  return (["p50", "p95", "p99"] as const).map((part) => ({
    id: part,
    header: part,
    means: DEFINITIONS.latency,
    numeric: true,
    sort: (run) => run.latency[part],
    cell: ({ latency, timing_status }) =>
      latency.measured ? (
        <>
          {milliseconds(latency[part])}
          {part === "p50" && latency.disturbed && <small>disturbed</small>}
        </>
      ) : (
        <span className="soft">{UNTIMED[timing_status]}</span>
      ),
  }));
}

type MeanProps = { run: RunResult; metric: string; both: boolean };

/** A mean with its interval and, where *both*, the mean without references that are unresolved. */
function Mean({ run, metric, both }: MeanProps) {
  const resolved = both ? run.resolved_metrics_flat?.[metric] : null;
  return (
    <>
      {score(run.metrics_flat[metric])}
      <small>{interval(run.intervals[metric] as [number, number] | undefined)}</small>
      {resolved != null && <small title={DEFINITIONS.resolved}>{score(resolved)} resolved</small>}
    </>
  );
}

type NameProps = { id: string; run: RunResult; best: boolean; names: ReadonlyMap<string, string> };

function RunName({ id, run, best, names }: NameProps) {
  return (
    <>
      {best && <span title={DEFINITIONS.best}>★ </span>}
      <Link href={`/benchmarks/${id}/runs/${run.id}`}>{run.name}</Link>
      {run.error_message && <small className="loss">{run.error_message}</small>}
      {run.warnings.map((warning) => (
        <small key={warning}>{warning}</small>
      ))}
      {run.identical_to.length > 0 && (
        <small title={DEFINITIONS.identical}>
          <Badge tone="warn">same ranking</Badge> as{" "}
          {run.identical_to.map((other) => names.get(other) ?? other).join(", ")}
        </small>
      )}
    </>
  );
}
