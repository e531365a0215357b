import type { ReportSection } from "@/api/types";
import { Bars } from "@/charts/Bars";
import { Detailed } from "@/parts/Detailed";

/** A section that an extension adds: its tables, then its charts. */
export function ExtraTab({ section }: { section: ReportSection }) {
  return (
    <div className="stack">
      {section.tables.map((table) => (
        <Detailed key={table.title} table={{ ...table, title: table.title || section.title }} />
      ))}
      {section.charts.length > 0 && (
        <div className="grid">
          {section.charts.map(({ title, what, bars, notes }) => (
            <Bars
              key={title}
              title={title}
              means=""
              head={["Name", what, "Interval"]}
              caption={notes.join(" ")}
              bars={bars.map(({ name, value, low, high }) => ({
                id: name,
                name,
                value,
                bounds: low === null || high === null ? undefined : [low, high],
                best: false,
              }))}
            />
          ))}
        </div>
      )}
    </div>
  );
}
