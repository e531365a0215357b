import { useDefinitions } from "@/api/results";
import type { Details, Results } from "@/api/types";
import { measures, names } from "./metrics";

/** What the numbers depend on, notes on each run, and what every measure means. */
export function MethodTab({ results, details }: { results: Results; details: Details }) {
  const name = names(results);
  return (
    <div className="stack">
      <dl className="method">
        {details.method.map(({ name: what, text }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <section>
        <h2 className="minor">Notes on each run</h2>
        <dl className="method">
          {Object.entries(details.run_notes).map(([run, notes]) => (
            <div key={run}>
              <dt>{name.get(run) ?? run}</dt>
              <dd>
                {notes.map((note) => (
                  <p key={note}>{note}</p>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <Definitions results={results} />
    </div>
  );
}

/** The measures of these results and the loss reasons, in the words of their registries. */
function Definitions({ results }: { results: Results }) {
  const metrics = useDefinitions().data?.metrics ?? [];
  const used = new Set(measures(results).map((measure) => measure.split(/[(@]/)[0]));
  return (
    <section>
      <h2 className="minor">Definitions</h2>
      <dl className="method">
        {metrics
          .filter(({ name }) => used.has(name))
          .map(({ name, definition, formula }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {definition} <code>{formula}</code>
              </dd>
            </div>
          ))}
        {results.loss_reasons.map(({ name, label, definition }) => (
          <div key={name}>
            <dt>{label}</dt>
            <dd>{definition}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
