import { useLocation } from "wouter";
import { useMatrix } from "@/api/results";
import type { Results } from "@/api/types";
import { Heatmap } from "@/charts/Heatmap";
import type { HeatOrder } from "@/charts/heat";
import { Loaded } from "@/parts/Notes";
import { useUrlState } from "@/parts/urlState";
import { MetricSelect } from "./MetricSelect";
import { labelOf, names, useMetric } from "./metrics";

const ORDERS: readonly { name: HeatOrder; label: string }[] = [
  { name: "hardest", label: "hardest queries first" },
  { name: "contested", label: "where runs differ most" },
  { name: "dataset", label: "as in the dataset" },
];

/** Every query in every run at a glance. */
export function HeatTab({ id, results }: { id: string; results: Results }) {
  const [metric, setMetric] = useMetric(results);
  const [order, setOrder] = useUrlState<HeatOrder>("order", "hardest");
  const [, navigate] = useLocation();
  const matrix = useMatrix(id, metric);
  return (
    <div className="stack">
      <div className="row">
        <MetricSelect results={results} chosen={metric} onChoose={setMetric} />
        <label className="row soft">
          Order
          <select value={order} onChange={(event) => setOrder(event.target.value as HeatOrder)}>
            {ORDERS.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Loaded of={matrix}>
        {(data) => (
          <Heatmap
            matrix={data}
            label={labelOf(results, data.metric)}
            names={names(results)}
            order={order}
            onOpen={(query, run) =>
              navigate(`/benchmarks/${id}/queries/${encodeURIComponent(query)}?right=${run}`)
            }
          />
        )}
      </Loaded>
    </div>
  );
}
