import { useCallback, useMemo } from "react";
import { Link, useLocation } from "wouter";
import { useResults, useRunQueries } from "@/api/results";
import type { QueryResult, Results } from "@/api/types";
import { type Column, DataTable } from "@/parts/DataTable";
import { Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS } from "@/words/definitions";
import { milliseconds, plural, score } from "@/words/format";
import { useMeasure } from "@/words/measures";
import { useCrumbs } from "./crumbs";
import { marked } from "./metrics";

/** One run, query by query; the hardest first. */
export function RunPage({ id, run }: { id: string; run: string }) {
  const crumbs = useCrumbs(id);
  const results = useResults(id);
  const queries = useRunQueries(id, run);
  const found = results.data?.runs.find((one) => one.id === run);
  return (
    <Page title={found?.name ?? "Run"} crumbs={crumbs}>
      <Loaded of={queries}>
        {(rows) => <Queries id={id} run={run} rows={rows} results={results.data} />}
      </Loaded>
    </Page>
  );
}

type Props = {
  id: string;
  run: string;
  rows: readonly QueryResult[];
  results: Results | undefined;
};

function Queries({ id, run, rows, results }: Props) {
  const measure = useMeasure();
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
  const measures = Object.keys(rows[0]?.metrics ?? {});
  const isTimed = rows.some((row) => row.search_time_ms !== null);
  const columns = columnsOf(measures, to, measure, isTimed, results);
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
        order={measures[0] ?? ""}
        onOpen={(row) => navigate(to(row))}
      />
    </div>
  );
}

function columnsOf(
  measures: readonly string[],
  to: (row: QueryResult) => string,
  measure: (name: string) => string,
  isTimed: boolean,
  results: Results | undefined,
): Column<QueryResult>[] {
  const time = (id: "search" | "rerank"): Column<QueryResult> => ({
    id,
    header: id === "search" ? "Latency" : "Reranking",
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
          <Link href={to(row)}>{row.query_text || row.query_key}</Link>
          <small>{row.query_key}</small>
        </>
      ),
    },
    ...measures.map(
      (one): Column<QueryResult> => ({
        id: one,
        header: marked(results, one),
        means: measure(one),
        numeric: true,
        sort: (row) => row.metrics[one],
        cell: (row) => score(row.metrics[one]),
      }),
    ),
    ...(isTimed ? [time("search"), time("rerank")] : []),
  ];
}
