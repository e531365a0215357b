import { type ReactNode, useState } from "react";
import { Term } from "@/parts/Term";

type Props = {
  title: string;
  means?: string;
  caption?: ReactNode;
  /** The numbers behind the drawing: a header, and the rows when they are asked for. */
  table: { head: readonly string[]; rows: () => readonly (readonly string[])[] };
  children: ReactNode;
};

const SHOWN_ROWS = 200;

/** A chart with its title, what it says, and the table that it draws. */
export function Figure({ title, means, caption, table, children }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <figure className="card">
      <h2 className="minor">{means ? <Term means={means}>{title}</Term> : title}</h2>
      {children}
      {caption && <figcaption>{caption}</figcaption>}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Show as a table</summary>
        {open && <Numbers title={title} table={table} />}
      </details>
    </figure>
  );
}

function Numbers({ title, table }: Pick<Props, "title" | "table">) {
  return (
    <section className="scroll" tabIndex={0} aria-label={`${title}, as a table`}>
      <table>
        <thead>
          <tr>
            {table.head.map((name, at) => (
              <th key={name} scope="col" className={at ? "n" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table
            .rows()
            .slice(0, SHOWN_ROWS)
            .map(([name, ...cells]) => (
              <tr key={`${name} ${cells.join(" ")}`}>
                <th scope="row">{name}</th>
                {cells.map((cell, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column.
                  <td key={at} className="n">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}
