import { useBenchmark } from "@/api/benchmarks";
import { useComparison, useMatrix, useResults } from "@/api/results";
import type { Results, RunResult } from "@/api/types";
import { MetricSelect } from "@/pages/results/MetricSelect";
import { hasScore, ranked, useMetric } from "@/pages/results/metrics";
import { Empty, Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Tabs } from "@/parts/Tabs";
import { useUrlState } from "@/parts/urlState";
import { type Outcome, pairs } from "./deltas";
import { PairView } from "./PairView";
import { Summary } from "./Summary";
import { Tokens } from "./Tokens";

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
      <Loaded of={results}>{(data) => <Compared id={id} results={data} />}</Loaded>
    </Page>
  );
}

function Compared({ id, results }: { id: string; results: Results }) {
  const [metric, setMetric] = useMetric(results);
  const [tab, setTab] = useUrlState<(typeof TABS)[number]["name"]>("tab", "summary");
  const [, setShow] = useUrlState<Outcome | "">("show", "");
  const [wanted, setBaseline] = useUrlState("baseline", "");
  const [chosen, setChosen] = useUrlState("run", "");
  const runs = ranked(results, metric).filter(hasScore(metric));
  const first = [...runs].sort((a, b) => a.run_order - b.run_order)[0];
  const baseline = runs.find((run) => run.id === wanted) ?? first;
  const others = runs.filter((run) => run !== baseline);
  const other = others.find((run) => run.id === chosen) ?? others[0];
  if (!baseline || !other) {
    return (
      <Empty title="There is nothing to compare yet">
        <p>At least two runs must have ended.</p>
      </Empty>
    );
  }
  const seeQueries = (run: string, show: Outcome | "" = "") => {
    setChosen(run);
    setShow(show);
    setTab("queries");
  };
  return (
    <>
      <Tokens
        runs={runs}
        metric={metric}
        baseline={baseline}
        chosen={tab === "queries" ? other.id : undefined}
        onBaseline={setBaseline}
        onChoose={seeQueries}
      />
      <MetricSelect results={results} chosen={metric} onChoose={setMetric} />
      <Tabs tabs={TABS} chosen={tab} onChoose={setTab}>
        {tab === "summary" ? (
          <SummaryTab id={id} metric={metric} baseline={baseline.id} onQueries={seeQueries} />
        ) : (
          <QueriesTab id={id} metric={metric} baseline={baseline} other={other} />
        )}
      </Tabs>
    </>
  );
}

type SummaryProps = {
  id: string;
  metric: string;
  baseline: string;
  onQueries: (run: string, show: Outcome) => void;
};

function SummaryTab({ id, metric, baseline, onQueries }: SummaryProps) {
  const comparison = useComparison(id, baseline, metric);
  return (
    <Loaded of={comparison}>{(data) => <Summary comparison={data} onQueries={onQueries} />}</Loaded>
  );
}

type QueriesProps = { id: string; metric: string; baseline: RunResult; other: RunResult };

function QueriesTab({ id, metric, baseline, other }: QueriesProps) {
  const matrix = useMatrix(id, metric);
  return (
    <Loaded of={matrix}>
      {(data) => (
        <PairView
          rows={pairs({ matrix: data, run: baseline.id }, { matrix: data, run: other.id })}
          left={baseline.name}
          right={other.name}
          metric={metric}
          to={(query) =>
            `/benchmarks/${id}/queries/${encodeURIComponent(query)}?left=${baseline.id}&right=${other.id}`
          }
        />
      )}
    </Loaded>
  );
}
