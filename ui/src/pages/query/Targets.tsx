import type { DrilldownRun, DrilldownTarget } from "@/api/types";
import { Term } from "@/parts/Term";
import { DEFINITIONS } from "@/words/definitions";
import { place } from "@/words/format";

type Props = { targets: readonly DrilldownTarget[]; runs: readonly DrilldownRun[] };

/** The relevant targets: at which rank each run found them, or the loss reason. */
export function Targets({ targets, runs }: Props) {
  return (
    <section className="scroll" tabIndex={0} aria-label="Relevant targets">
      <table>
        <thead>
          <tr>
            <th scope="col">Relevant target</th>
            <th scope="col" className="n">
              <Term means={DEFINITIONS.grade}>Grade</Term>
            </th>
            {runs.map((run) => (
              <th key={run.run_id} scope="col" className="n">
                {run.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {targets.map((target) => (
            <tr key={`${place(target)} ${target.symbol}`}>
              <th scope="row">
                {place(target)}
                {target.symbol && <small>{target.symbol}</small>}
              </th>
              <td className="n">{target.grade}</td>
              {runs.map((run) => (
                <td key={run.run_id} className="n">
                  <FoundAt target={target} run={run.run_id} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function FoundAt({ target, run }: { target: DrilldownTarget; run: string }) {
  const rank = target.found_at[run];
  const reason = target.lost[run];
  if (rank != null && !reason) return <span className="gain">rank {rank}</span>;
  return (
    <span className="loss">
      {rank == null ? "not found" : `rank ${rank}`}
      {reason && <small>{reason}</small>}
    </span>
  );
}
