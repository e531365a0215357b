import { useCallback, useMemo } from "react";
import { Link, useLocation } from "wouter";
import { useBenchmark } from "@/api/benchmarks";
import { useResults, useRunQueries } from "@/api/results";
import type { QueryResult } from "@/api/types";
import { type Column, DataTable } from "@/parts/DataTable";
import { Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS, measure } from "@/words/definitions";
import { milliseconds, plural, score } from "@/words/format";

/** One run, query by query; the hardest first. */
export function RunPage({ id, run }: { id: string; run: string }) {
  const benchmark = useBenchmark(id);
  const results = useResults(id);
  const queries = useRunQueries(id, run);
  const found = results.data?.runs.find((one) => one.id === run);
  return (
    <Page
      title={found?.name ?? "Run"}
      crumbs={[
        { label: "Benchmarks", to: "/benchmarks" },
        { label: benchmark.data?.name ?? "Benchmark", to: `/benchmarks/${id}` },
      ]}
    >
      <Loaded of={queries}>
        {(rows) => <Queries id={id} run={run} rows={rows} k={results.data?.primary_k ?? 10} />}
      </Loaded>
    </Page>
  );
}

type Props = { id: string; run: string; rows: readonly QueryResult[]; k: number };

function Queries({ id, run, rows, k }: Props) {
  const [text, setText] = useUrlState("q", "");
  const [, navigate] = useLocation();
  const wanted = text.toLowerCase();
  const shown = useMemo(
    () => rows.filter((row) => `${row.query_key} ${row.query_text}`.toLowerCase().includes(wanted)),
    [rows, wanted],
  );
  const to = useCallback(
    (row: QueryResult) =>
      `/benchmarks/${id}/queries/${encodeURIComponent(row.query_id)}?right=${run}`,
    [id, run],
  );
  const columns = useMemo(() => columnsOf(k, to), [k, to]);
  return (
    <div className="stack">
      <label className="row soft">
        Filter
        <input type="search" value={text} onChange={(event) => setText(event.target.value)} />
        {plural(shown.length, "query", "queries")}
      </label>
      <DataTable
        label="Queries"
        columns={columns}
        rows={shown}
        rowKey={(row) => row.query_id}
        order="ndcg"
        onOpen={(row) => navigate(to(row))}
      />
    </div>
  );
}

function columnsOf(k: number, to: (row: QueryResult) => string): Column<QueryResult>[] {
  const number = (
    id: string,
    header: string,
    value: (row: QueryResult) => number | null,
  ): Column<QueryResult> => ({
    id,
    header,
    means: measure(header),
    numeric: true,
    sort: value,
    cell: (row) => score(value(row)),
  });
  const time = (id: "search" | "rerank"): Column<QueryResult> => ({
    id,
    header: id,
    means: DEFINITIONS.latency,
    numeric: true,
    sort: (row) => row[`${id}_time_ms`],
    cell: (row) => milliseconds(row[`${id}_time_ms`]),
  });
  return [
    {
      id: "query",
      header: "Query",
      sort: (row) => row.query_text.toLowerCase(),
      cell: (row) => (
        <>
          <Link href={to(row)}>{row.query_text}</Link>
          <small>{row.query_key}</small>
        </>
      ),
    },
    number("ndcg", `ndcg@${k}`, (row) => row.ndcg_at_k),
    number("recall", `recall@${k}`, (row) => row.recall_at_k),
    number("precision", `precision@${k}`, (row) => row.precision_at_k),
    number("rr", "mrr", (row) => row.reciprocal_rank),
    time("search"),
    time("rerank"),
  ];
}
