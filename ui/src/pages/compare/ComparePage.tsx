import { isThere } from "@/api/embedded";
import { useComparison, useMatrix, useResults } from "@/api/results";
import type { Results, RunResult } from "@/api/types";
import { useCrumbs } from "@/pages/results/crumbs";
import { MetricSelect } from "@/pages/results/MetricSelect";
import { hasScore, isLower, labelOf, ranked, useMetric } from "@/pages/results/metrics";
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
  const crumbs = useCrumbs(id);
  const results = useResults(id);
  return (
    <Page title="Compare runs" crumbs={crumbs}>
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
  // A report file of many runs holds the comparisons with a few baselines only.
  const baselines = runs.filter(({ id: run }) =>
    isThere(`/benchmarks/${id}/comparison`, { baseline: run, metric }),
  );
  const first = [...baselines].sort((a, b) => a.run_order - b.run_order)[0];
  const baseline = baselines.find((run) => run.id === wanted) ?? first;
  const others = runs.filter((run) => run !== baseline);
  const other = others.find((run) => run.id === chosen) ?? others[0];
  if (!baseline || !other) {
    return (
      <Empty title="Nothing to compare yet">
        <p>A comparison needs two runs with scores.</p>
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
        baselines={baselines}
        metric={metric}
        isLower={isLower(results, metric)}
        baseline={baseline}
        chosen={tab === "queries" ? other.id : undefined}
        onBaseline={setBaseline}
        onChoose={seeQueries}
      />
      <MetricSelect results={results} chosen={metric} onChoose={setMetric} />
      <Tabs tabs={TABS} chosen={tab} onChoose={setTab}>
        {tab === "summary" ? (
          <SummaryTab
            id={id}
            metric={metric}
            label={labelOf(results, metric)}
            baseline={baseline.id}
            onQueries={seeQueries}
          />
        ) : (
          <QueriesTab
            id={id}
            metric={metric}
            label={labelOf(results, metric)}
            isLower={isLower(results, metric)}
            baseline={baseline}
            other={other}
          />
        )}
      </Tabs>
    </>
  );
}

type SummaryProps = {
  id: string;
  metric: string;
  label: string;
  baseline: string;
  onQueries: (run: string, show: Outcome) => void;
};

function SummaryTab({ id, metric, label, baseline, onQueries }: SummaryProps) {
  const comparison = useComparison(id, baseline, metric);
  return (
    <Loaded of={comparison}>
      {(data) => <Summary comparison={data} label={label} onQueries={onQueries} />}
    </Loaded>
  );
}

type QueriesProps = {
  id: string;
  metric: string;
  label: string;
  isLower: boolean;
  baseline: RunResult;
  other: RunResult;
};

function QueriesTab({ id, metric, label, isLower, baseline, other }: QueriesProps) {
  const matrix = useMatrix(id, metric);
  return (
    <Loaded of={matrix}>
      {(data) => (
        <PairView
          rows={pairs({ matrix: data, run: baseline.id }, { matrix: data, run: other.id })}
          left={baseline.name}
          right={other.name}
          metric={metric}
          label={label}
          isLower={isLower}
          to={(query) =>
            `/benchmarks/${id}/queries/${encodeURIComponent(query)}?left=${baseline.id}&right=${other.id}`
          }
        />
      )}
    </Loaded>
  );
}
