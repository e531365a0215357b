import type { FormEvent } from "react";
import { useAnnotate } from "@/api/benchmarks";
import type { Benchmark } from "@/api/types";
import { Problem } from "@/parts/Notes";
import { Writer } from "@/parts/Writer";
import { moment } from "@/words/format";

/** What people noted about a benchmark; the trend shows it too. */
export function RemarksTab({ benchmark }: { benchmark: Benchmark }) {
  const annotate = useAnnotate(benchmark.id);
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("text")).trim();
    if (text) annotate.mutate(text, { onSuccess: () => form.reset() });
  };
  return (
    <div className="stack">
      <Writer>
        <form className="row" onSubmit={add}>
          <label className="field grow">
            Remark
            <input
              name="text"
              required
              placeholder="What changed? For example: new stemmer, commit 3fa21c"
            />
          </label>
          <button type="submit" className="button main" disabled={annotate.isPending}>
            Add
          </button>
        </form>
      </Writer>
      <Problem of={annotate.error} />
      {benchmark.annotations.length === 0 && (
        <p className="soft">No remarks yet. They are shown on the trend beside the results.</p>
      )}
      {benchmark.annotations.map(({ id, text, owner_id, created_at }) => (
        <article key={id} className="card">
          <p className="anywhere">{text}</p>
          <small>
            {owner_id}, {moment(created_at)}
          </small>
        </article>
      ))}
    </div>
  );
}
