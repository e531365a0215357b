import type { DetailTable } from "@/api/types";
import { type Column, DataTable } from "./DataTable";

type Cells = { key: number; cells: DetailTable["rows"][number] };

/** A table as the report has it, sortable; an interval stands below its number. */
export function Detailed({ table }: { table: DetailTable }) {
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
      <h2 className="minor">{table.title}</h2>
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
