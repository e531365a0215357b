import { Link } from "wouter";
import { useChanges } from "@/api/results";
import type { Change } from "@/api/types";
import { plural } from "@/words/format";

const SHOWN = 5;

/** The surest changes first, of these the largest. */
function order(a: Change, b: Change): number {
  if (a.significant !== b.significant) return a.significant ? -1 : 1;
  return Math.abs(b.difference ?? 0) - Math.abs(a.difference ?? 0);
}

type Props = { id: string; isEnabled: boolean };

/** How the runs differ from earlier runs of the same name; nothing where there are none. */
export function Changes({ id, isEnabled }: Props) {
  const all = useChanges(id, isEnabled).data?.changes ?? [];
  const moved = all.filter(({ unchanged }) => !unchanged).sort(order);
  const same = all.length - moved.length;
  const rest = moved.length - SHOWN;
  if (all.length === 0) return null;
  return (
    <section aria-label="Changes since earlier benchmarks">
      <strong>Since earlier benchmarks</strong>
      <ul className="insights">
        {moved.slice(0, SHOWN).map((change) => (
          <li key={`${change.run_id} ${change.against}`}>
            {change.text}
            {change.altered.length > 0 && ` Changed: ${change.altered.join(", ")}.`}{" "}
            <Link
              href={`/compare?left=${change.earlier_run_id}&right=${change.run_id}&metric=${encodeURIComponent(change.metric)}`}
            >
              Query by query
            </Link>
          </li>
        ))}
        {rest > 0 && <li>{plural(rest, "further run")} changed too.</li>}
        {same > 0 && (
          <li>
            {plural(same, "run")} {same === 1 ? "has" : "have"} the score of an earlier benchmark on
            every query.
          </li>
        )}
      </ul>
    </section>
  );
}
