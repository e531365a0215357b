import type { TimedQueries } from "@/api/types";

const CHOICES: readonly { timing: TimedQueries; label: string }[] = [
  { timing: "sample", label: "of 20 queries" },
  { timing: "all", label: "of all queries" },
  { timing: "none", label: "not measured" },
];

type Props = { chosen: TimedQueries; onChoose: (timing: TimedQueries) => void };

/** Of how many queries the latency is measured. */
export function LatencyChoice({ chosen, onChoose }: Props) {
  return (
    <fieldset>
      <legend>Latency</legend>
      <div className="row">
        {CHOICES.map(({ timing, label }) => (
          <label key={timing} className="check">
            <input
              type="radio"
              name="timing"
              checked={timing === chosen}
              onChange={() => onChoose(timing)}
            />
            {label}
          </label>
        ))}
      </div>
      <small>
        Scores come first. Latency is measured after that, while no other karat run uses the
        server’s machine.
      </small>
    </fieldset>
  );
}
