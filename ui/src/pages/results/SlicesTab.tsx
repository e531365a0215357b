import { useSlices } from "@/api/results";
import type { Results } from "@/api/types";
import { Empty, Loaded } from "@/parts/Notes";
import { Term } from "@/parts/Term";
import { useUrlState } from "@/parts/urlState";
import { interval, score } from "@/words/format";
import { MetricSelect } from "./MetricSelect";
import { markOf, ranked, useMetric } from "./metrics";

// A mean over fewer queries is too uncertain to compare runs by.
const FEWEST_QUERIES = 10;

const isSmall = ({ queries }: { queries: number }): boolean => queries < FEWEST_QUERIES;

/** Means by the values of a tag, such as the category of the queries. */
export function SlicesTab({ id, results }: { id: string; results: Results }) {
  const [metric, setMetric] = useMetric(results);
  const [by, setBy] = useUrlState("by", "");
  const slices = useSlices(id, metric, by || undefined);
  const runs = ranked(results, metric);
  return (
    <Loaded of={slices}>
      {(data) =>
        data.tags.length === 0 ? (
          <Empty title="No tags to break results down by">
            <p>
              Add tags such as a category to the queries of the dataset, and the means of each value
              appear here.
            </p>
          </Empty>
        ) : (
          <div className="stack">
            <div className="row">
              <MetricSelect results={results} chosen={metric} onChoose={setMetric} />
              <label className="row soft">
                Tag
                <select value={data.by} onChange={(event) => setBy(event.target.value)}>
                  {data.tags.map((tag) => (
                    <option key={tag}>{tag}</option>
                  ))}
                </select>
              </label>
            </div>
            <section className="scroll" tabIndex={0} aria-label="Means by tag">
              <table>
                <thead>
                  <tr>
                    <th scope="col">{data.by}</th>
                    <th scope="col" className="n">
                      <Term means="Few queries make a mean uncertain: see the 95 % interval below it.">
                        Queries
                      </Term>
                    </th>
                    {runs.map((run) => (
                      <th key={run.id} scope="col" className="n">
                        {run.name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {data.slices.map((slice) => (
                    <tr key={slice.value} className={isSmall(slice) ? "few" : undefined}>
                      <th scope="row">
                        {slice.value}
                        {isSmall(slice) && <small>few queries</small>}
                      </th>
                      <td className="n">{slice.queries}</td>
                      {runs.map((run) => (
                        <td key={run.id} className="n">
                          {score(slice.means[run.id])}
                          {slice.means[run.id] != null && markOf(results, metric)}
                          <small>
                            {interval(slice.intervals[run.id] as [number, number] | undefined)}
                          </small>
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          </div>
        )
      }
    </Loaded>
  );
}
