import { useHealth } from "@/api/collections";
import { Loaded } from "@/parts/Notes";
import { plural } from "@/words/format";

const CHECKS = [
  { name: "empty", title: "Empty", why: "Documents without text can never be found." },
  { name: "oversized", title: "Oversized", why: "Documents far larger than the rest." },
  { name: "unchunked", title: "Without chunks", why: "Nothing of them is in the index." },
  {
    name: "never_retrieved",
    title: "Never retrieved",
    why: "No benchmark on this collection has ever found them.",
  },
] as const;

/** What an index holds that a search may stumble over. */
export function HealthTab({ id }: { id: string }) {
  const health = useHealth(id);
  return (
    <Loaded of={health}>
      {(data) => (
        <div className="grid">
          {CHECKS.map(({ name, title, why }) => (
            <Check key={name} title={title} why={why} paths={data[name]} />
          ))}
          <Check
            title="Duplicate"
            why="Documents with the same content compete for the same ranks."
            paths={data.duplicate.map((group) => group.join(" = "))}
          />
          <Check
            title="Skipped"
            why="Files that were not taken in, by reason."
            paths={Object.entries(data.skipped).map(([reason, number]) => `${reason}: ${number}`)}
          />
        </div>
      )}
    </Loaded>
  );
}

type CheckProps = { title: string; why: string; paths: readonly string[] | null };

function Check({ title, why, paths }: CheckProps) {
  return (
    <section className="card">
      <h2 className="minor">
        {title}{" "}
        <small>{paths === null ? "not known yet" : plural(paths.length, "entry", "entries")}</small>
      </h2>
      <p className="soft">{paths === null ? "Known after the first benchmark." : why}</p>
      {paths && paths.length > 0 && (
        <details>
          <summary>Show</summary>
          <ul className="plain mono">
            {paths.map((path) => (
              <li key={path} className="anywhere">
                {path}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
