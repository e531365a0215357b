import { useBenchmark } from "@/api/benchmarks";
import { useComparison, useMatrix, useResults } from "@/api/results";
import type { Results } from "@/api/types";
import { MetricSelect } from "@/pages/results/MetricSelect";
import { hasScore, ranked, useMetric } from "@/pages/results/metrics";
import { Empty, Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Tabs } from "@/parts/Tabs";
import { useUrlState } from "@/parts/urlState";
import { pairs } from "./deltas";
import { PairView } from "./PairView";
import { Summary } from "./Summary";

const TABS = [
  { name: "summary", label: "Summary" },
  { name: "queries", label: "Queries" },
] as const;

/** The runs of one benchmark against one of them. */
export function ComparePage({ id }: { id: string }) {
  const benchmark = useBenchmark(id);
  const results = useResults(id);
  return (
    <Page
      title="Compare runs"
      crumbs={[
        { label: "Benchmarks", to: "/benchmarks" },
        { label: benchmark.data?.name ?? "Benchmark", to: `/benchmarks/${id}` },
      ]}
    >
      <Loaded of={results}>
        {(data) =>
          ranked(data, data.primary_metric).length < 2 ? (
            <Empty title="There is nothing to compare yet">
              <p>At least two runs must have ended.</p>
            </Empty>
          ) : (
            <Compared id={id} results={data} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Compared({ id, results }: { id: string; results: Results }) {
  const [metric, setMetric] = useMetric(results);
  const [tab, setTab] = useUrlState<(typeof TABS)[number]["name"]>("tab", "summary");
  const runs = ranked(results, metric).filter(hasScore(metric));
  const first = [...runs].sort((a, b) => a.run_order - b.run_order)[0];
  const [wanted, setBaseline] = useUrlState("baseline", "");
  const baseline = (runs.find((run) => run.id === wanted) ?? first)?.id;
  const others = runs.filter((run) => run.id !== baseline);
  const [chosen, setChosen] = useUrlState("run", "");
  const other = others.find((run) => run.id === chosen) ?? others[0];
  const comparison = useComparison(id, baseline, metric);
  const matrix = useMatrix(id, metric, tab === "queries");
  const name = results.runs.find((run) => run.id === baseline)?.name ?? "";
  return (
    <>
      <div className="row">
        <label className="row soft">
          Baseline
          <select value={baseline} onChange={(event) => setBaseline(event.target.value)}>
            {runs.map((run) => (
              <option key={run.id} value={run.id}>
                {run.name}
              </option>
            ))}
          </select>
        </label>
        <MetricSelect results={results} chosen={metric} onChoose={setMetric} />
      </div>
      <Tabs tabs={TABS} chosen={tab} onChoose={setTab}>
        {tab === "summary" && (
          <Loaded of={comparison}>
            {(data) => (
              <Summary
                comparison={data}
                onBaseline={setBaseline}
                onQueries={(run) => {
                  setChosen(run);
                  setTab("queries");
                }}
              />
            )}
          </Loaded>
        )}
        {tab === "queries" && baseline && other && (
          <div className="stack">
            <label className="row soft">
              Run
              <select value={other.id} onChange={(event) => setChosen(event.target.value)}>
                {others.map((run) => (
                  <option key={run.id} value={run.id}>
                    {run.name}
                  </option>
                ))}
              </select>
              against {name}
            </label>
            <Loaded of={matrix}>
              {(data) => (
                <PairView
                  rows={pairs({ matrix: data, run: baseline }, { matrix: data, run: other.id })}
                  left={name}
                  right={other.name}
                  metric={metric}
                  to={(query) =>
                    `/benchmarks/${id}/queries/${encodeURIComponent(query)}?left=${baseline}&right=${other.id}`
                  }
                />
              )}
            </Loaded>
          </div>
        )}
      </Tabs>
    </>
  );
}
