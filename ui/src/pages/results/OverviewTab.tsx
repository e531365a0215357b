import { useCurves } from "@/api/results";
import type { Details, Results, RunResult } from "@/api/types";
import { Bars } from "@/charts/Bars";
import { GREY } from "@/charts/colours";
import { Lines } from "@/charts/Lines";
import { Pareto } from "@/charts/Pareto";
import { Stacks } from "@/charts/Stacks";
import { together } from "@/charts/together";
import { DEFINITIONS } from "@/words/definitions";
import { useMeasure } from "@/words/measures";
import { Effects } from "./Effects";
import { MetricSelect } from "./MetricSelect";
import {
  colours,
  hasScore,
  labelOf,
  marked,
  ranked,
  stemLabel,
  stemOf,
  unbeaten,
  useMetric,
} from "./metrics";
import { RunsTable } from "./RunsTable";

type Props = { id: string; results: Results; details: Details | undefined };

/** The table of runs, and under it the charts of the selected measure. */
export function OverviewTab({ id, results, details }: Props) {
  const measure = useMeasure();
  const [metric, setMetric] = useMetric(results);
  const runs = ranked(results, metric);
  const best: ReadonlySet<string> =
    metric === results.primary_metric ? unbeaten(results) : new Set();
  const shades = colours(results);
  const bars = runs.filter(hasScore(metric)).map((run) => ({
    id: run.id,
    name: run.name,
    value: run.metrics_flat[metric] ?? null,
    bounds: run.intervals[metric],
    best: best.has(run.id),
  }));
  const points = bars.flatMap(({ value, ...bar }) => {
    const latency = runs.find((run) => run.id === bar.id)?.latency.p50;
    const shade = shades.get(bar.id) ?? GREY;
    return value !== null && latency ? [{ ...bar, shade, value, latency }] : [];
  });
  const told = runs.filter(({ fates }) => Object.keys(fates).length > 0);
  const lost = told.length > 0 && (
    <Stacks
      title="Why targets were lost"
      means={DEFINITIONS.lossReasons}
      parts={results.loss_reasons.map(({ definition, ...one }) => ({ ...one, means: definition }))}
      stacks={told.map(({ id, name, fates }) => ({ id, name, counts: fates }))}
      caption={`Relevant targets at k = ${results.primary_k}. Open a query to see the loss reason of each target.`}
    />
  );
  return (
    <div className="stack">
      <RunsTable id={id} results={results} metric={metric} details={details} />
      {details && <Effects sentences={details.insights} />}
      <MetricSelect results={results} chosen={metric} onChoose={setMetric} />
      {bars.length > 0 && (
        <div className="grid">
          <Bars
            title={`Mean ${marked(results, metric)}`}
            means={measure(metric)}
            bars={bars}
            caption={[
              bars.some(({ bounds }) => bounds) && "Whiskers: 95 % intervals over queries.",
              best.size > 0 && "Stronger colour: no other run is significantly better.",
            ]
              .filter(Boolean)
              .join(" ")}
          />
          {lost}
          {points.length > 1 && (
            <Pareto
              points={points}
              label={labelOf(results, metric)}
              front={details?.pareto[metric] ?? []}
            />
          )}
          {/* To compute them would disturb the latency that is being measured. */}
          {results.status !== "running" && (
            <CurvesFigure
              id={id}
              shades={shades}
              measure={stemOf(metric)}
              primary={labelOf(results, results.primary_metric)}
              label={(stem) => stemLabel(results, stem)}
            />
          )}
          {details && told.length > 0 && <FirstRanks details={details} runs={told} />}
        </div>
      )}
    </div>
  );
}

const RANK_SHADES = ["h5", "h4", "h3", "h2", "h1", "h0"];

function FirstRanks({ details, runs }: { details: Details; runs: readonly RunResult[] }) {
  const { names, runs: counts } = details.first_ranks;
  return (
    <Stacks
      title="Rank of the first relevant hit"
      means={DEFINITIONS.firstRank}
      parts={names.map((name, at) => ({ name, shade: RANK_SHADES[at] ?? "h0", means: "" }))}
      stacks={runs.map(({ id, name }) => ({
        id,
        name,
        counts: Object.fromEntries(names.map((bin, at) => [bin, counts[id]?.[at] ?? 0])),
      }))}
      caption="Number of queries by the rank of their first relevant hit."
    />
  );
}

type CurvesProps = {
  id: string;
  /** The colours of the runs, in their order. */
  shades: ReadonlyMap<string, string>;
  measure: string;
  /** The measure that the runs are ranked by. */
  primary: string;
  label: (stem: string) => string;
};

function CurvesFigure({ id, shades, measure: stem, primary, label }: CurvesProps) {
  const order = [...shades.keys()];
  const curves = useCurves(id).data?.curves ?? [];
  const wanted = curves.some((curve) => curve.measure === stem) ? stem : "ndcg";
  const drawn = curves.filter((curve) => curve.measure === wanted);
  const series = drawn
    .filter(({ run_id }) => (shades.get(run_id) ?? GREY) !== GREY)
    .sort((a, b) => order.indexOf(a.run_id) - order.indexOf(b.run_id))
    .map(({ run_id, name, k, values }) => ({
      id: run_id,
      name,
      shade: shades.get(run_id) ?? GREY,
      points: k.flatMap((x, at) => {
        const y = values[at];
        return y == null ? [] : [{ x, y }];
      }),
    }));
  if (series.length === 0 || series.every(({ points }) => points.length < 2)) return null;
  return (
    <Lines
      title={`${label(wanted)} at different k`}
      means="The mean when only the first k hits count. A line ends at the depth of its run."
      {...(drawn.length > series.length
        ? { caption: `Only the ${series.length} best runs by ${primary} are shown.` }
        : {})}
      series={together(series)}
      xLabel="k"
    />
  );
}
