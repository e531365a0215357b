import { useCurves } from "@/api/results";
import type { Results } from "@/api/types";
import { Bars } from "@/charts/Bars";
import { Lines } from "@/charts/Lines";
import { Pareto } from "@/charts/Pareto";
import { Stacks } from "@/charts/Stacks";
import { DEFINITIONS, measure } from "@/words/definitions";
import { FATES } from "@/words/fates";
import { MetricSelect } from "./MetricSelect";
import { hasScore, ranked, useMetric } from "./metrics";
import { RunsTable } from "./RunsTable";

const SHOWN_CURVES = 8;

/** The table of runs, and under it the charts of the measure on view. */
export function OverviewTab({ id, results }: { id: string; results: Results }) {
  const [metric, setMetric] = useMetric(results);
  const runs = ranked(results, metric);
  const best = new Set(metric === results.primary_metric ? results.summary.best_runs : []);
  const bars = runs.filter(hasScore(metric)).map((run) => ({
    id: run.id,
    name: run.name,
    value: run.metrics_flat[metric] ?? null,
    bounds: run.intervals[metric],
    best: best.has(run.id),
  }));
  const points = bars.flatMap(({ bounds: _, value, ...bar }) => {
    const latency = runs.find((run) => run.id === bar.id)?.latency.p50;
    return value !== null && latency ? [{ ...bar, value, latency }] : [];
  });
  const told = runs.filter(({ fates }) => Object.keys(fates).length > 0);
  return (
    <div className="stack">
      <RunsTable id={id} results={results} metric={metric} />
      <MetricSelect results={results} chosen={metric} onChoose={setMetric} />
      {bars.length > 0 && (
        <div className="grid">
          <Bars
            title={`Mean ${metric}`}
            means={measure(metric)}
            bars={bars}
            caption="Whiskers are 95 % intervals over queries. Stronger bars lead: no run is better than they are beyond the noise."
          />
          {points.length > 1 && <Pareto points={points} metric={metric} />}
          {/* To compute them would disturb the latency that is being measured. */}
          {results.status !== "running" && (
            <CurvesFigure
              id={id}
              order={runs.map((run) => run.id)}
              measure={metric.split("@")[0] ?? metric}
            />
          )}
          {told.length > 0 && (
            <Stacks
              title="What became of the relevant targets"
              means={DEFINITIONS.fates}
              parts={FATES}
              stacks={told.map(({ id, name, fates }) => ({ id, name, counts: fates }))}
              caption={`At k = ${results.primary_k}. Blue was found, brown was lost on the way; a query shows it target by target.`}
            />
          )}
        </div>
      )}
    </div>
  );
}

type CurvesProps = { id: string; order: readonly string[]; measure: string };

function CurvesFigure({ id, order, measure: stem }: CurvesProps) {
  const curves = useCurves(id).data?.curves ?? [];
  const wanted = curves.some((curve) => curve.measure === stem) ? stem : "ndcg";
  const drawn = curves.filter((curve) => curve.measure === wanted);
  const series = drawn
    .sort((a, b) => order.indexOf(a.run_id) - order.indexOf(b.run_id))
    .slice(0, SHOWN_CURVES)
    .map(({ run_id, name, k, values }) => ({
      id: run_id,
      name,
      points: k.flatMap((x, at) => {
        const y = values[at];
        return y == null ? [] : [{ x, y }];
      }),
    }));
  if (series.length === 0 || series.every(({ points }) => points.length < 2)) return null;
  return (
    <Lines
      title={`${wanted} against k`}
      means="The mean when only the first k results count. A line ends at the depth its run retrieved."
      {...(drawn.length > SHOWN_CURVES ? { caption: "The eight best runs are drawn." } : {})}
      series={series}
      xLabel="k"
    />
  );
}
