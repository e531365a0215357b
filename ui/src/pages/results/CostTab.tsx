import type { Details, Results } from "@/api/types";
import { Ecdf } from "@/charts/Ecdf";
import { Detailed } from "@/parts/Detailed";
import { DEFINITIONS } from "@/words/definitions";
import { names } from "./metrics";

/** Latency, tokens, cost and phases of all runs. */
export function CostTab({ results, details }: { results: Results; details: Details }) {
  const name = names(results);
  const runs = details.latency_steps.map(({ run_id, ...steps }) => ({
    id: run_id,
    name: name.get(run_id) ?? run_id,
    ...steps,
  }));
  return (
    <div className="stack">
      {runs.length === 0 && <p className="soft">Latency was not measured.</p>}
      {details.tables.map((table) => (
        <Detailed key={table.title} table={table} />
      ))}
      {runs.length > 0 && (
        <div className="grid">
          <Ecdf runs={runs} means={DEFINITIONS.ecdf} />
        </div>
      )}
    </div>
  );
}
