import { useMemo } from "react";
import { useResults } from "@/api/results";
import type { DrilldownRun } from "@/api/types";
import { labelOf } from "@/pages/results/metrics";
import { type Column, DataTable } from "@/parts/DataTable";
import { milliseconds, score } from "@/words/format";
import { useMeasure } from "@/words/measures";

/** What every run scored on this query. */
export function RunsOfQuery({ id, runs }: { id: string; runs: readonly DrilldownRun[] }) {
  const results = useResults(id).data;
  const measure = useMeasure();
  const columns = useMemo(() => {
    const measures = [...new Set(runs.flatMap((run) => Object.keys(run.metrics)))];
    const name: Column<DrilldownRun> = {
      id: "name",
      header: "Run",
      sort: (run) => run.name.toLowerCase(),
      cell: (run) => run.name,
    };
    return [
      name,
      ...measures.map(
        (one): Column<DrilldownRun> => ({
          id: one,
          header: labelOf(results, one),
          means: measure(one),
          numeric: true,
          sort: (run) => run.metrics[one],
          cell: (run) => score(run.metrics[one]),
        }),
      ),
      {
        id: "search",
        header: "Latency",
        means: "The latency of this query.",
        numeric: true,
        sort: (run: DrilldownRun) => run.search_time_ms,
        cell: (run: DrilldownRun) => milliseconds(run.search_time_ms),
      },
    ];
  }, [runs, results, measure]);
  return (
    <section>
      <h2>All runs on this query</h2>
      <DataTable
        label="All runs on this query"
        columns={columns}
        rows={runs}
        rowKey={(run) => run.run_id}
      />
    </section>
  );
}
