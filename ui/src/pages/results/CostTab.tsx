import type { Details, DetailTable, Results } from "@/api/types";
import { GREY } from "@/charts/colours";
import { Ecdf } from "@/charts/Ecdf";
import { Detailed } from "@/parts/Detailed";
import { DEFINITIONS } from "@/words/definitions";
import { colours, names } from "./metrics";

/** Latency, tokens, cost and phases of all runs. */
export function CostTab({ results, details }: { results: Results; details: Details }) {
  const name = names(results);
  const shades = colours(results);
  const runs = details.latency_steps.map(({ run_id, ...steps }) => ({
    id: run_id,
    name: name.get(run_id) ?? run_id,
    shade: shades.get(run_id) ?? GREY,
    ...steps,
  }));
  return (
    <div className="stack">
      {runs.length === 0 && <p className="soft">Latency was not measured.</p>}
      {details.tables.map((table) => (
        <Detailed key={table.title} table={headed(table)} />
      ))}
      {runs.length > 0 && (
        <div className="grid">
          <Ecdf runs={runs} means={DEFINITIONS.ecdf} />
        </div>
      )}
    </div>
  );
}

/** The table with headers that begin like those of all other tables. */
function headed(table: DetailTable): DetailTable {
  const columns = table.columns.map((column) => ({ ...column, title: begun(column.title) }));
  return { ...table, columns };
}

// Percentiles, and the phases that an engine reports, keep the case of their names.
const WORDS = /^(run|queries|cold|index|memory|how|first|tokens|cost)\b/;
const begun = (title: string): string =>
  WORDS.test(title) ? title.charAt(0).toUpperCase() + title.slice(1) : title;
