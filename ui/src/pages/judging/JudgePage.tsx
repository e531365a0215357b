import { useState } from "react";
import { useBenchmark } from "@/api/benchmarks";
import { useContent } from "@/api/collections";
import { useDataset } from "@/api/datasets";
import { useJudge, useUnjudged } from "@/api/judgments";
import type { Unjudged } from "@/api/types";
import { Code } from "@/parts/Code";
import { useKeys } from "@/parts/keys";
import { Empty, Loaded, Problem } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Pager } from "@/parts/Pager";
import { useUrlState } from "@/parts/urlState";
import { place, plural } from "@/words/format";
import { Grades } from "./Grades";
import { lineRange } from "./lineRange";

/** Hits of a benchmark that nobody has judged, one after another. */
export function JudgePage({ id }: { id: string }) {
  const dataset = useDataset(id);
  const [benchmark] = useUrlState("benchmark", "");
  const [page, setPage] = useUrlState("page", "1");
  const unjudged = useUnjudged(id, benchmark || undefined, Number(page));
  return (
    <Page
      title="Judge"
      crumbs={[
        { label: "Datasets", to: "/datasets" },
        { label: dataset.data?.name ?? "Dataset", to: `/datasets/${id}` },
      ]}
      below={
        <p className="soft">
          Hits that some run returned and nobody has judged, best ranked first. Each grade scores
          all results anew, without running anything again.
        </p>
      }
    >
      {benchmark ? (
        <Loaded of={unjudged}>
          {(data) => (
            <div className="stack">
              <Judging dataset={id} benchmark={benchmark} data={data} />
              <Pager of={data} noun="hits" onPage={(next) => setPage(String(next))} />
            </div>
          )}
        </Loaded>
      ) : (
        <Empty title="Judging begins at a benchmark">
          <p>Open a benchmark over this dataset and press “Judge unjudged hits”.</p>
        </Empty>
      )}
    </Page>
  );
}

type Props = { dataset: string; benchmark: string; data: Unjudged };

function Judging({ dataset, benchmark, data }: Props) {
  const [at, setAt] = useState(0);
  const collection = useBenchmark(benchmark).data?.collection_id ?? "";
  const { judge, undo } = useJudge(dataset);
  const here = Math.min(at, data.hits.length - 1);
  const hit = data.hits[here];
  const content = useContent(collection, hit?.path);
  useKeys({
    j: () => setAt(Math.min(here + 1, data.hits.length - 1)),
    k: () => setAt(Math.max(here - 1, 0)),
  });
  if (!hit) {
    return (
      <Empty title="Every hit is judged">
        <p>New benchmarks may bring up hits that are not.</p>
        <button type="button" className="button" onClick={() => undo.mutate()}>
          <kbd>u</kbd> undo the last grade
        </button>
      </Empty>
    );
  }
  const give = (grade: number) =>
    judge.mutate({
      query_id: hit.query_id,
      path: hit.path,
      ...lineRange(hit),
      grade,
      reason: "",
      version: data.version,
    });
  return (
    <section className="card stack" aria-label="Hit to judge">
      <p className="soft" aria-live="polite">
        {here + 1} of {plural(data.total, "unjudged hit")} · <kbd>j</kbd> <kbd>k</kbd> next,
        previous
      </p>
      <h2 className="anywhere">{hit.query_text}</h2>
      <div className="row">
        <strong className="anywhere">{place(hit)}</strong>
        {hit.symbol && <code>{hit.symbol}</code>}
        <span className="soft">
          best rank {hit.best_rank}, found by {plural(hit.runs.length, "run")}
        </span>
      </div>
      <Grades
        grade={null}
        busy={judge.isPending || undo.isPending}
        onGrade={give}
        onUndo={() => undo.mutate()}
      />
      <Problem of={judge.error ?? undo.error} />
      <Loaded of={content}>
        {({ text, language }) => (
          <Code
            label={`Text of ${hit.path}`}
            text={text}
            language={language}
            first={hit.start_line}
            last={hit.end_line}
            query={hit.query_text}
          />
        )}
      </Loaded>
    </section>
  );
}
