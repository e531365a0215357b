import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import type { Details, Results, RunResult } from "@/api/types";
import { Badge, Status } from "@/parts/Badge";
import { type Column, DataTable } from "@/parts/DataTable";
import { Term } from "@/parts/Term";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS } from "@/words/definitions";
import { change, interval, milliseconds, plural, probability, score } from "@/words/format";
import { useMeasure } from "@/words/measures";
import { isLower, labelOf, marked, markOf, measures, names, unbeaten } from "./metrics";

// Up to this number of measures, all cut-offs are shown at once.
const MOST_COLUMNS = 6;

type Props = { id: string; results: Results; metric: string; details: Details | undefined };

/** The configurations, sortable by every number; those that no other run beats have a star. */
export function RunsTable({ id, results, metric, details }: Props) {
  const measure = useMeasure();
  const few = measures(results).length <= MOST_COLUMNS;
  const [k, setK] = useUrlState("k", few ? "all" : String(results.primary_k));
  const [, navigate] = useLocation();
  const columns = useMemo(
    () => columnsOf({ id, results, metric, details }, k, measure),
    [id, results, k, metric, details, measure],
  );
  const cuts = results.k_values_for_metrics;
  const best = unbeaten(results);
  return (
    <div className="stack">
      <fieldset className="row">
        <legend className="unseen">Cut-off</legend>
        {cuts.length > 1 && <span className="soft controls">Cut-off</span>}
        {(cuts.length > 1 ? [...cuts.map(String), "all"] : []).map((one) => (
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
          {plural(results.query_count, "query", "queries")}. Below each mean: its{" "}
          <Term means={DEFINITIONS.interval}>95 % interval</Term>.
          {best.size > 0 && (
            <>
              {" "}
              ★ <Term means={DEFINITIONS.best}>best</Term> on{" "}
              {labelOf(results, results.primary_metric)}: no other run is significantly better
              {best.size > 1 && "; several stars are a tie"}.
            </>
          )}
        </span>
      </fieldset>
      <DataTable
        label="Runs"
        columns={columns}
        rows={results.runs}
        rowKey={(run) => run.id}
        order={`${isLower(results, results.primary_metric) ? "" : "-"}${results.primary_metric}`}
        onOpen={(run) => navigate(`/benchmarks/${id}/runs/${run.id}`)}
      />
    </div>
  );
}

function columnsOf(
  { id, results, metric, details }: Props,
  k: string,
  measure: (name: string) => string,
): Column<RunResult>[] {
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
  const isOne = results.runs.length === 1;
  const best = unbeaten(results);
  const isAnyBetter = details?.standings.some((one) => one.better_than !== "-") ?? false;
  const letters = new Map(
    isAnyBetter ? details?.standings.map(({ run_id, letter }) => [run_id, letter]) : [],
  );
  const isTold = results.runs.some(
    ({ answered, errors, timeouts, invalid }) =>
      answered < results.query_count || errors + timeouts + invalid > 0,
  );
  return [
    {
      id: "name",
      header: "Run",
      sort: (run) => run.name.toLowerCase(),
      cell: (run) => (
        <RunName
          id={id}
          run={run}
          best={best.has(run.id)}
          letter={letters.get(run.id) ?? ""}
          names={name}
        />
      ),
    },
    ...shown.flatMap((one) => [
      {
        id: one,
        header: marked(results, one),
        means: measure(one),
        numeric: true,
        sort: (run: RunResult) => run.metrics_flat[one],
        cell: (run: RunResult) => <Mean run={run} metric={one} mark={markOf(results, one)} />,
      },
      ...(one === results.primary_metric ? resolvedColumn(results) : []),
    ]),
    ...(details && !isOne ? standingColumns(details, results, isAnyBetter) : []),
    ...latencyColumns(results),
    // Where all answered every query it says nothing, and would take the room of a number.
    ...(isTold ? [ANSWERED] : []),
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

const ANSWERED: Column<RunResult> = {
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
};

/** The means without targets that do not exist, where there are such targets. */
function resolvedColumn(results: Results): Column<RunResult>[] {
  const metric = results.primary_metric;
  const of = (run: RunResult) => run.resolved_metrics_flat?.[metric];
  if (results.runs.every((run) => of(run) == null)) return [];
  return [
    {
      id: "resolved",
      header: "Without missing targets",
      means: DEFINITIONS.resolved,
      numeric: true,
      sort: of,
      cell: (run) => (
        <>
          {score(of(run))}
          {of(run) != null && markOf(results, metric)}
        </>
      ),
    },
  ];
}

/** What a run is worth against the others: its difference from the baseline, and whom it beats. */
function standingColumns(
  { standings, change_of, baseline }: Details,
  results: Results,
  isAnyBetter: boolean,
): Column<RunResult>[] {
  const mark = markOf(results, change_of);
  const of = new Map(standings.map((one) => [one.run_id, one]));
  return [
    {
      id: "change",
      header: `Change of ${marked(results, change_of)}`,
      means: DEFINITIONS.change,
      numeric: true,
      sort: (run) => of.get(run.id)?.difference,
      cell: (run) => {
        const { difference, p } = of.get(run.id) ?? { difference: null, p: null };
        if (run.id === baseline) return <span className="soft">baseline</span>;
        return (
          <>
            {change(difference)}
            {mark}
            {p !== null && <small>p {p < 0.001 ? probability(p) : `= ${probability(p)}`}</small>}
          </>
        );
      },
    },
    ...(isAnyBetter
      ? [
          {
            id: "beats",
            header: "Better than",
            means: DEFINITIONS.betterThan,
            sort: (run: RunResult) => of.get(run.id)?.better_than,
            cell: (run: RunResult) => of.get(run.id)?.better_than ?? "–",
          },
        ]
      : []),
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
  const points = (["p50", "p90", "p99"] as const).filter((part) =>
    results.runs.some(({ latency }) => latency[part] !== null),
  );
  return points.map((part) => ({
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

type MeanProps = { run: RunResult; metric: string; mark: string };

/** A mean with its interval. */
function Mean({ run, metric, mark }: MeanProps) {
  return (
    <>
      {score(run.metrics_flat[metric])}
      {run.metrics_flat[metric] != null && mark}
      <small>{interval(run.intervals[metric] as [number, number] | undefined)}</small>
    </>
  );
}

type NameProps = {
  id: string;
  run: RunResult;
  best: boolean;
  letter: string;
  names: ReadonlyMap<string, string>;
};

function RunName({ id, run, best, letter, names }: NameProps) {
  return (
    <>
      {best && <span title={DEFINITIONS.best}>★ </span>}
      {letter && <span className="letter">{letter}</span>}
      <Link href={`/benchmarks/${id}/runs/${run.id}`}>{run.name}</Link>
      {run.error_message && <small className="loss">{run.error_message}</small>}
      {run.warnings.map((warning) => (
        <small key={warning}>{warning}</small>
      ))}
      {run.identical_to.length > 0 && (
        <small title={DEFINITIONS.identical}>
          <Badge tone="warn">same hits</Badge> as{" "}
          {run.identical_to.map((other) => names.get(other) ?? other).join(", ")}
        </small>
      )}
    </>
  );
}
