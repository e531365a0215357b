import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { useMatrix } from "@/api/results";
import type { Results, ScoreMatrix } from "@/api/types";
import { type Column, DataTable } from "@/parts/DataTable";
import { Loaded } from "@/parts/Notes";
import { useUrlState } from "@/parts/urlState";
import { plural, score } from "@/words/format";
import { MetricSelect } from "./MetricSelect";
import { markOf, names, useMetric } from "./metrics";

type Row = {
  id: string;
  text: string;
  tags: readonly string[];
  values: readonly (number | null)[];
  mean: number | null;
  spread: number | null;
};

// More columns than these cannot be read side by side; mean and spread then stand for all runs.
const SHOWN_RUNS = 6;

function rowsOf({ queries, texts, tags, values }: ScoreMatrix): Row[] {
  return queries.map((id, at) => {
    const scores = values[at] ?? [];
    const known = scores.filter((value) => value !== null);
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return {
      id,
      text: texts[at] ?? "",
      tags: Object.entries(tags).flatMap(([tag, of]) => (of[at] ? [`${tag}: ${of[at]}`] : [])),
      values: scores,
      mean: known.length > 0 ? mean : null,
      spread: known.length > 0 ? Math.max(...known) - Math.min(...known) : null,
    };
  });
}

/** All queries with their score in each run; the hardest first. */
export function QueriesTab({ id, results }: { id: string; results: Results }) {
  const [metric, setMetric] = useMetric(results);
  const matrix = useMatrix(id, metric);
  return (
    <Loaded of={matrix}>
      {(data) => (
        <Queries
          id={id}
          matrix={data}
          names={names(results)}
          mark={markOf(results, metric)}
          select={<MetricSelect results={results} chosen={metric} onChoose={setMetric} />}
        />
      )}
    </Loaded>
  );
}

type Props = {
  id: string;
  matrix: ScoreMatrix;
  names: ReadonlyMap<string, string>;
  mark: string;
  select: React.ReactNode;
};

function Queries({ id, matrix, names: name, mark, select }: Props) {
  const [text, setText] = useUrlState("find", "");
  const [tag, setTag] = useUrlState("tag", "");
  const [, navigate] = useLocation();
  const rows = useMemo(() => rowsOf(matrix), [matrix]);
  const tags = useMemo(() => [...new Set(rows.flatMap((row) => row.tags))].sort(), [rows]);
  const wanted = text.toLowerCase();
  const shown = useMemo(
    () =>
      rows.filter(
        (row) =>
          (!tag || row.tags.includes(tag)) &&
          `${row.id} ${row.text}`.toLowerCase().includes(wanted),
      ),
    [rows, tag, wanted],
  );
  const to = (row: Row) => `/benchmarks/${id}/queries/${encodeURIComponent(row.id)}`;
  const number = (
    key: string,
    header: string,
    value: (row: Row) => number | null | undefined,
    means?: string,
  ): Column<Row> => ({
    id: key,
    header,
    ...(means ? { means } : {}),
    numeric: true,
    sort: value,
    cell: (row) => (value(row) == null ? score(null) : `${score(value(row))}${mark}`),
  });
  const columns: Column<Row>[] = [
    {
      id: "query",
      header: "Query",
      sort: (row) => row.text.toLowerCase(),
      cell: (row) => (
        <>
          <Link href={to(row)}>{row.text || row.id}</Link>
          <small>{row.id}</small>
        </>
      ),
    },
    ...(matrix.runs.length > 1
      ? [
          number("mean", "Mean", (row) => row.mean, "The mean over all runs."),
          number(
            "spread",
            "Spread",
            (row) => row.spread,
            "The difference between the best and the worst run.",
          ),
        ]
      : []),
    ...(matrix.runs.length <= SHOWN_RUNS
      ? matrix.runs.map((run, at) => number(run, name.get(run) ?? run, (row) => row.values[at]))
      : []),
  ];
  return (
    <div className="stack">
      <div className="row controls">
        {select}
        <label className="row soft">
          Find
          <input type="search" value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        {tags.length > 0 && tags.length <= 60 && (
          <label className="row soft">
            Tag
            <select value={tag} onChange={(event) => setTag(event.target.value)}>
              <option value="">all</option>
              {tags.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
        <span className="soft">{plural(shown.length, "query", "queries")}</span>
      </div>
      <DataTable
        label="All queries"
        columns={columns}
        rows={shown}
        rowKey={(row) => row.id}
        order={matrix.runs.length > 1 ? "mean" : (matrix.runs[0] ?? "")}
        orderName="order"
        onOpen={(row) => navigate(to(row))}
      />
    </div>
  );
}
