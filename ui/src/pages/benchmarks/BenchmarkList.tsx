import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useBenchmarks, useExample } from "@/api/benchmarks";
import type { Benchmark } from "@/api/types";
import { Status } from "@/parts/Badge";
import { type Column, DataTable } from "@/parts/DataTable";
import { Empty, Loaded, Problem } from "@/parts/Notes";
import { useOwnerColumn } from "@/parts/owner";
import { Page } from "@/parts/Page";
import { Pager } from "@/parts/Pager";
import { useUrlState } from "@/parts/urlState";
import { Writer } from "@/parts/Writer";
import { duration, moment, score } from "@/words/format";
import { FirstSteps } from "./FirstSteps";
import { ScoresDialog } from "./ScoresDialog";

const STATUSES = ["pending", "queued", "running", "completed", "failed", "cancelled"] as const;

/** How long a benchmark took, once it has ended. */
const took = ({ started_at, completed_at }: Benchmark): string =>
  started_at && completed_at ? `took ${duration(started_at, completed_at)}` : "";

/** All benchmarks, the newest first; two that are ticked can be compared. */
export function BenchmarkList() {
  const [status, setStatus] = useUrlState("status", "");
  const [page, setPage] = useUrlState("page", "1");
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [scores, setScores] = useState(false);
  const [, navigate] = useLocation();
  // Kept here: the first steps leave the page when the benchmark of the example is in the list.
  const example = useExample();
  const listed = useBenchmarks({ status, page: Number(page) });

  const tick = (id: string) =>
    setTicked((before) =>
      before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2),
    );
  const columns: Column<Benchmark>[] = [
    {
      id: "name",
      header: "Benchmark",
      sort: ({ name }) => name.toLowerCase(),
      cell: ({ id, name, description }) => (
        <>
          <Link href={`/benchmarks/${id}`}>{name}</Link>
          {description && <small>{description}</small>}
        </>
      ),
    },
    {
      id: "status",
      header: "Status",
      sort: (row) => row.status,
      cell: (row) => (
        <>
          <Status of={row.status} />
          {row.queue_position !== null && <small>number {row.queue_position} in the queue</small>}
          {row.error_message && <small className="loss">{row.error_message}</small>}
        </>
      ),
    },
    {
      id: "runs",
      header: "Runs",
      means: "Finished runs of all runs. A run is one configuration.",
      numeric: true,
      sort: (row) => row.total_runs,
      cell: (row) => (
        <>
          {row.completed_runs} / {row.total_runs}
          {row.failed_runs > 0 && <small className="loss">{row.failed_runs} failed</small>}
        </>
      ),
    },
    {
      id: "best",
      header: "Best run",
      means:
        "The highest mean, by the judgments at the time of the run. Whether it is better than the others is said in its benchmark.",
      sort: (row) => row.best_run?.mean,
      cell: ({ best_run }) =>
        best_run && (
          <>
            {score(best_run.mean)} <span className="soft">{best_run.metric}</span>
            <small>{best_run.name}</small>
          </>
        ),
    },
    {
      id: "dataset",
      header: "Dataset",
      sort: (row) => row.dataset_name.toLowerCase(),
      cell: (row) => (
        <>
          {row.dataset_name}
          <small>on {row.collection_name}</small>
        </>
      ),
    },
    ...useOwnerColumn(),
    {
      id: "created",
      header: "Created",
      numeric: true,
      sort: (row) => row.created_at,
      cell: (row) => (
        <>
          {moment(row.created_at)}
          <small>{took(row)}</small>
        </>
      ),
    },
    {
      id: "tick",
      header: "Compare",
      cell: (row) => (
        <label className="check">
          <input type="checkbox" checked={ticked.includes(row.id)} onChange={() => tick(row.id)} />
          <span className="unseen">Compare {row.name}</span>
        </label>
      ),
    },
  ];
  return (
    <Page
      title="Benchmarks"
      below={
        <p className="soft">A benchmark compares search configurations on the same queries.</p>
      }
      actions={
        <>
          <button
            type="button"
            className="button"
            disabled={ticked.length !== 2}
            onClick={() => navigate(`/compare?left=${ticked[0]}&right=${ticked[1]}`)}
          >
            Compare {ticked.length}/2
          </button>
          <Writer>
            <button type="button" className="button" onClick={() => setScores(true)}>
              Compare scores
            </button>
            <Link href="/benchmarks/new" className="button main">
              New benchmark
            </Link>
          </Writer>
        </>
      }
    >
      {scores && <ScoresDialog onClose={() => setScores(false)} />}
      <Problem of={example.error} />
      <Loaded of={listed}>
        {(data) =>
          data.total === 0 && !status ? (
            <FirstSteps example={example} />
          ) : (
            <div className="stack">
              <label className="row soft">
                Show
                <select value={status} onChange={(event) => setStatus(event.target.value)}>
                  <option value="">every status</option>
                  {STATUSES.map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </select>
              </label>
              {data.total === 0 ? (
                <Empty title={`No benchmark is ${status}`}>
                  <button type="button" className="button" onClick={() => setStatus("")}>
                    Show all
                  </button>
                </Empty>
              ) : (
                <DataTable
                  label="Benchmarks"
                  columns={columns}
                  rows={data.benchmarks}
                  rowKey={({ id }) => id}
                  onOpen={({ id }) => navigate(`/benchmarks/${id}`)}
                />
              )}
              <Pager of={data} noun="benchmarks" onPage={(next) => setPage(String(next))} />
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}
