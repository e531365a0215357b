import { type FormEvent, useState } from "react";
import { useScoreReport } from "@/api/scores";
import { Dialog } from "@/parts/Dialog";
import { Problem } from "@/parts/Notes";

/** Compares the systems in a file of scores, says the outcome, and offers the report as a file. */
export function ScoresDialog({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [lower, setLower] = useState("");
  const compare = useScoreReport();

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file) compare.mutate({ file, lower });
  };
  const save = (html: string) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
    link.download = "report.html";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Dialog title="Compare a file of scores" wide onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="soft">
          Scores of any evaluation, one row for each query and system: CSV, TSV, JSON Lines,
          Parquet, or the results of another tool. Nothing is stored.
        </p>
        <label className="field">
          File
          <input
            type="file"
            onChange={(event) => {
              compare.reset();
              setFile(event.target.files?.[0] ?? null);
            }}
          />
        </label>
        <label className="field">
          Measures of which less is better
          <input
            value={lower}
            placeholder="cost, latency"
            onChange={(event) => setLower(event.target.value)}
          />
        </label>
        <Problem of={compare.error} />
        {compare.data && (
          <section aria-label="Outcome" role="status">
            <p>
              <strong>{compare.data.verdict}</strong>
            </p>
          </section>
        )}
        <footer>
          {compare.data && (
            <button
              type="button"
              className="button"
              onClick={() => compare.data && save(compare.data.html)}
            >
              Save the report
            </button>
          )}
          <button type="submit" className="button main" disabled={!file || compare.isPending}>
            {compare.isPending ? "Comparing…" : "Compare"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
