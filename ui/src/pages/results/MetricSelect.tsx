import type { Results } from "@/api/types";
import { Term } from "@/parts/Term";
import { useMeasure } from "@/words/measures";
import { marked, measures } from "./metrics";

type Props = { results: Results; chosen: string; onChoose: (metric: string) => void };

export function MetricSelect({ results, chosen, onChoose }: Props) {
  const measure = useMeasure();
  return (
    <label className="row soft">
      <Term means={measure(chosen)}>Measure</Term>
      <select value={chosen} onChange={(event) => onChoose(event.target.value)}>
        {measures(results).map((name) => (
          <option key={name} value={name}>
            {marked(results, name)}
          </option>
        ))}
      </select>
    </label>
  );
}
