import { useHealth } from "@/api/collections";
import type { Health } from "@/api/types";
import { Badge } from "@/parts/Badge";
import { Loaded } from "@/parts/Notes";
import { count, plural } from "@/words/format";

/** What an index holds that no search will find, or that is there twice. */
export function HealthTab({ id }: { id: string }) {
  const health = useHealth(id);
  return (
    <Loaded of={health}>
      {(data) => (
        <div className="stack">
          <p>
            {data.healthy ? (
              <Badge tone="good">healthy</Badge>
            ) : (
              <Badge tone="warn">has flaws</Badge>
            )}{" "}
            {plural(data.document_count, "document")} in {plural(data.chunk_count, "chunk")}, asked{" "}
            {plural(data.queries, "query", "queries")} of its datasets with {data.engine}
          </p>
          <div className="grid">
            {data.flaws.map((flaw) => (
              <FlawCard key={flaw.kind} flaw={flaw} />
            ))}
            <Counts title="Left out" why="Skipped files, by reason." of={data.skipped} />
            <Counts
              title="Chunked differently"
              why="Files that could not be chunked as requested."
              of={data.fallbacks}
            />
          </div>
        </div>
      )}
    </Loaded>
  );
}

function FlawCard({ flaw }: { flaw: Health["flaws"][number] }) {
  return (
    <section className="card">
      <h2 className="minor">
        {flaw.kind}{" "}
        <small>
          {count(flaw.count)} of {count(flaw.of)}
        </small>
      </h2>
      {flaw.note && <p className="soft">{flaw.note}</p>}
      {flaw.places.length > 0 && (
        <details>
          <summary>Show</summary>
          <ul className="plain mono">
            {flaw.places.map((place) => (
              <li key={place} className="anywhere">
                {place}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Counts({ title, why, of }: { title: string; why: string; of: Record<string, number> }) {
  const reasons = Object.entries(of);
  if (reasons.length === 0) return null;
  return (
    <section className="card">
      <h2 className="minor">{title}</h2>
      <p className="soft">{why}</p>
      <dl className="facts">
        {reasons.map(([reason, number]) => (
          <div key={reason} className="pair">
            <dt>{reason}</dt>
            <dd>{count(number)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
