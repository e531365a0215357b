import type { Details, DetailTable, Results } from "@/api/types";
import { Ecdf } from "@/charts/Ecdf";
import { type Column, DataTable } from "@/parts/DataTable";
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

type Cells = { key: number; cells: DetailTable["rows"][number] };

/** A table as the report has it, sortable; an interval stands below its number. */
function Detailed({ table }: { table: DetailTable }) {
  const columns = table.columns.map(
    ({ title, numeric }, at): Column<Cells> => ({
      id: `c${at}`,
      header: title,
      numeric,
      sort: ({ cells }) => cells[at]?.value,
      cell: ({ cells }) => {
        const [shown, span] = (cells[at]?.text ?? "").split(" [");
        return (
          <>
            {shown}
            {span && <small>[{span}</small>}
          </>
        );
      },
    }),
  );
  return (
    <section className="detailed">
      <h3>{table.title}</h3>
      <DataTable
        label={table.title}
        columns={columns}
        rows={table.rows.map((cells, key) => ({ key, cells }))}
        rowKey={({ key }) => String(key)}
        orderName={`sort-${table.title.toLowerCase().replaceAll(" ", "-")}`}
      />
      {table.notes.length > 0 && (
        <ul className="insights soft">
          {table.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </section>
  );
}
