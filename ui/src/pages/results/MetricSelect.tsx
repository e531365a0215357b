import type { Results } from "@/api/types";
import { Term } from "@/parts/Term";
import { useMeasure } from "@/words/measures";
import { marked, measures } from "./metrics";

type Props = { results: Results; chosen: string; onChoose: (metric: string) => void };

/** The measure on view; nothing where there is only one. */
export function MetricSelect({ results, chosen, onChoose }: Props) {
  const measure = useMeasure();
  const names = measures(results);
  if (names.length < 2) return null;
  return (
    <label className="row soft">
      <Term means={measure(chosen)}>Measure</Term>
      <select value={chosen} onChange={(event) => onChoose(event.target.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {marked(results, name)}
          </option>
        ))}
      </select>
    </label>
  );
}
