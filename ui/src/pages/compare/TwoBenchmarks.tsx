import { useBenchmarks } from "@/api/benchmarks";
import { useMatrix, useTwoSides } from "@/api/results";
import type { Benchmark, TwoSides } from "@/api/types";
import { Verdict } from "@/pages/results/Outcome";
import { Badge } from "@/parts/Badge";
import { Empty, Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Term } from "@/parts/Term";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS } from "@/words/definitions";
import { difference, probability, score } from "@/words/format";
import { useMeasure } from "@/words/measures";
import { pairs } from "./deltas";
import { PairView } from "./PairView";

/** The best run of one benchmark against the best of another, or any two runs. */
export function TwoBenchmarks() {
  const [left, setLeft] = useUrlState("left", "");
  const [right, setRight] = useUrlState("right", "");
  const [metric, setMetric] = useUrlState("metric", "ndcg@10");
  const listed = useBenchmarks({ perPage: 100 });
  const two = useTwoSides(left, right, metric);
  const known = (listed.data?.benchmarks ?? []).filter((one) => one.completed_runs > 0);
  return (
    <Page title="Compare two benchmarks" crumbs={[{ label: "Benchmarks", to: "/benchmarks" }]}>
      <div className="row choices">
        <Choice label="Baseline" value={left} known={known} onChoose={setLeft} />
        <Choice label="Against it" value={right} known={known} onChoose={setRight} />
        <label className="field">
          Measure
          <input
            defaultValue={metric}
            onBlur={(event) => setMetric(event.target.value.trim() || "ndcg@10")}
          />
        </label>
      </div>
      {left && right ? (
        <Loaded of={two}>{(data) => <Sides two={data} />}</Loaded>
      ) : (
        <Empty title="Choose two benchmarks">
          <p>
            Their best runs are compared query by query, on the queries that both have answered.
          </p>
        </Empty>
      )}
    </Page>
  );
}

type ChoiceProps = {
  label: string;
  value: string;
  known: readonly Benchmark[];
  onChoose: (id: string) => void;
};

function Choice({ label, value, known, onChoose }: ChoiceProps) {
  return (
    <label className="field">
      {label}
      <select value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">Choose…</option>
        {known.every(({ id }) => id !== value) && value && (
          <option value={value}>Run {value}</option>
        )}
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Sides({ two }: { two: TwoSides }) {
  const measure = useMeasure();
  const { left, right, comparison, metric } = two;
  const [amount, ends] = difference(comparison);
  const before = useMatrix(left.benchmark_id, metric);
  const after = useMatrix(right.benchmark_id, metric);
  return (
    <div className="stack">
      <div className="row">
        {two.comparable ? (
          <Badge tone="good">comparable</Badge>
        ) : (
          <Badge tone="warn">not comparable</Badge>
        )}
        {two.why && <span>{two.why}</span>}
      </div>
      <Verdict text={two.verdict} />
      <div className="tiles">
        {[left, right].map((side) => (
          <div className="tile" key={side.run_id}>
            <b>{score(side.mean)}</b>
            <Term means={measure(metric)}>{side.benchmark_name}</Term>
            <small className="row">{side.run_name}</small>
          </div>
        ))}
        <div className="tile">
          <b>{amount}</b>
          <Term means={DEFINITIONS.difference}>{ends}</Term>
        </div>
        <div className="tile">
          <b>{probability(comparison.p_corrected)}</b>
          <Term means={DEFINITIONS.p}>p, paired over {two.queries} queries</Term>
        </div>
      </div>
      <Loaded of={before}>
        {(earlier) => (
          <Loaded of={after}>
            {(later) => (
              <PairView
                rows={pairs(
                  { matrix: earlier, run: left.run_id },
                  { matrix: later, run: right.run_id },
                )}
                left={left.benchmark_name}
                right={right.benchmark_name}
                metric={metric}
                label={two.label}
                to={(query) =>
                  `/benchmarks/${right.benchmark_id}/queries/${encodeURIComponent(query)}?right=${right.run_id}`
                }
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </div>
  );
}
