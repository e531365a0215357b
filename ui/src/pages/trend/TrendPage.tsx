import { useEffect, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { useDatasets } from "@/api/datasets";
import { useTrend } from "@/api/results";
import type { Trend, TrendPoint } from "@/api/types";
import { GREY } from "@/charts/colours";
import { Lines } from "@/charts/Lines";
import { type Column, DataTable } from "@/parts/DataTable";
import { Empty, Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Revision } from "@/parts/Revision";
import { useUrlState } from "@/parts/urlState";
import { interval, moment, score } from "@/words/format";
import { useMeasure } from "@/words/measures";
import { benchmarkAxis, coloured, commitAxis, remarks, series } from "./series";

/** The scores of one dataset over time or commits, a line per configuration, with what people noted. */
export function TrendPage() {
  const datasets = useDatasets();
  const [dataset, setDataset] = useUrlState("dataset", "");
  const trend = useTrend(dataset);
  const first = datasets.data?.datasets[0]?.id;
  useEffect(() => {
    if (!dataset && first) setDataset(first);
  }, [dataset, first, setDataset]);
  return (
    <Page
      title="Trend"
      below={
        <p className="soft">
          The scores of all runs on one dataset, by benchmark or by the commit that was searched.
        </p>
      }
    >
      {datasets.data?.total === 0 ? (
        <Empty title="A trend needs a dataset">
          <Link className="button main" href="/datasets?new=1">
            Upload a dataset
          </Link>
        </Empty>
      ) : (
        <div className="stack">
          <label className="row soft">
            Dataset
            <select value={dataset} onChange={(event) => setDataset(event.target.value)}>
              {datasets.data?.datasets.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          {dataset && <Loaded of={trend}>{(data) => <Course {...data} />}</Loaded>}
        </div>
      )}
    </Page>
  );
}

function Course({ points, labels }: Trend) {
  const measure = useMeasure();
  const measures = useMemo(
    () => [...new Set(points.flatMap(({ values }) => Object.keys(values)))],
    [points],
  );
  const [metric, setMetric] = useUrlState(
    "metric",
    measures.find((one) => one === "ndcg@10") ?? measures[0] ?? "",
  );
  const label = (name: string) => labels[name] ?? name;
  const [by, setBy] = useUrlState<"time" | "commit">("by", "time");
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  if (points.length === 0) {
    return (
      <Empty title="No run on this dataset has finished yet">
        <Link className="button main" href="/benchmarks/new">
          New benchmark
        </Link>
      </Empty>
    );
  }
  const columns: Column<TrendPoint>[] = [
    {
      id: "benchmark",
      header: "Benchmark",
      sort: (point) => point.benchmark_name.toLowerCase(),
      cell: (point) => (
        <>
          <Link href={`/benchmarks/${point.benchmark_id}`}>{point.benchmark_name}</Link>
          {point.annotations.map((text) => (
            <small key={text}>{text}</small>
          ))}
        </>
      ),
    },
    { id: "run", header: "Run", sort: (point) => point.run_name, cell: (point) => point.run_name },
    {
      id: "value",
      header: label(metric),
      means: measure(metric),
      numeric: true,
      sort: (point) => point.values[metric],
      cell: (point) => (
        <>
          {score(point.values[metric])}
          <small>{interval(point.intervals[metric] as [number, number] | undefined)}</small>
        </>
      ),
    },
    {
      id: "commit",
      header: "Commit",
      means: "The commit that was indexed.",
      sort: (point) => point.commit?.committed_at,
      cell: (point) => point.commit && <Revision of={point.commit} />,
    },
    {
      id: "when",
      header: "When",
      numeric: true,
      sort: (point) => point.created_at,
      cell: (point) => moment(point.created_at),
    },
  ];
  const searched = points.filter(({ commit }) => commit !== null);
  const axis = by === "commit" ? commitAxis(points) : benchmarkAxis(points);
  const lines = coloured(series(points, metric, axis), chosen);
  const followed = lines.filter(({ shade }) => shade !== GREY).map(({ id }) => id);
  const follow = (id: string) =>
    setChosen(followed.includes(id) ? followed.filter((one) => one !== id) : [...followed, id]);
  return (
    <>
      <div className="row">
        <label className="row soft">
          Measure
          <select value={metric} onChange={(event) => setMetric(event.target.value)}>
            {measures.map((one) => (
              <option key={one} value={one}>
                {label(one)}
              </option>
            ))}
          </select>
        </label>
        {searched.length > 0 && (
          <label className="row soft">
            Over
            <select value={by} onChange={(event) => setBy(event.target.value as typeof by)}>
              <option value="time">benchmarks</option>
              <option value="commit">commits</option>
            </select>
          </label>
        )}
      </div>
      <Lines
        title={`${label(metric)} over ${by === "commit" ? "commits" : "benchmarks"}`}
        means={measure(metric)}
        caption="One line per configuration; those with the same scores share one. Click a name to give its line a colour, or to take it away. One or two coloured lines have their 95 % intervals as bands. Marks on top: remarks."
        series={lines}
        marks={remarks(points, axis)}
        xLabel={axis.label}
        format={axis.format}
        onChoose={follow}
      />
      <DataTable
        label="Runs over time"
        columns={columns}
        rows={points}
        rowKey={(point) => point.run_id}
        order="-when"
        onOpen={(point) => navigate(`/benchmarks/${point.benchmark_id}`)}
      />
    </>
  );
}
