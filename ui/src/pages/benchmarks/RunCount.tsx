import { useMe } from "@/api/system";
import type { Preview } from "@/api/types";
import { Problem } from "@/parts/Notes";
import { plural } from "@/words/format";

/** The exact runs of a matrix: how many, what they share, and each by name. */
export function RunCount({ preview }: { preview: { data: Preview | undefined; error: unknown } }) {
  const limits = useMe().data?.limits;
  if (preview.error) return <Problem of={preview.error} />;
  if (!preview.data) return <p className="soft">Counting…</p>;
  const { total_runs, runs, shared, warning } = preview.data;
  return (
    <section className={warning ? "note warn" : "note"} aria-label="Runs of this matrix">
      <p aria-live="polite">
        <strong>{plural(total_runs, "run")}</strong>
        {limits && <span className="soft"> of at most {limits.runs}</span>}
      </p>
      {warning && <p>{warning}</p>}
      <p className="soft">{shared.words}</p>
      <details>
        <summary>Which</summary>
        <ol>
          {runs.map(({ name }) => (
            <li key={name}>{name}</li>
          ))}
        </ol>
      </details>
    </section>
  );
}
