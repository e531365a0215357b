import { useBenchmark } from "@/api/benchmarks";
import { useContent } from "@/api/collections";
import { useDataset } from "@/api/datasets";
import { useJudge } from "@/api/judgments";
import type { Benchmark } from "@/api/types";
import { Grades } from "@/pages/judging/Grades";
import { lineRange } from "@/pages/judging/lineRange";
import { Code } from "@/parts/Code";
import { Loaded, Problem } from "@/parts/Notes";
import { Writer } from "@/parts/Writer";
import { place } from "@/words/format";
import type { ReaderProps } from "./QueryPage";

/** The text of a hit at its lines, and the grades that can be given to it. */
export function HitPanel(props: ReaderProps) {
  const benchmark = useBenchmark(props.id);
  return <Loaded of={benchmark}>{(data) => <Panel benchmark={data} {...props} />}</Loaded>;
}

function Panel({ benchmark, query, hit, onClose }: ReaderProps & { benchmark: Benchmark }) {
  const { collection_id, dataset_id } = benchmark;
  const content = useContent(collection_id, hit.path);
  const version = useDataset(dataset_id).data?.version;
  const { judge, undo } = useJudge(dataset_id);
  const busy = version === undefined || judge.isPending || undo.isPending;
  const give = (grade: number) => {
    if (busy || version === undefined) return;
    judge.mutate({
      query_id: query.query_id,
      path: hit.path,
      ...lineRange(hit),
      grade,
      reason: "",
      version,
    });
  };
  const last = judge.isSuccess ? judge.variables : undefined;
  const isLast = last?.path === hit.path && last.start_line === lineRange(hit).start_line;
  // Shown at once; the results are scored with it after a pause.
  const grade = last && isLast && last.query_id === query.query_id ? last.grade : hit.grade;
  const takeBack = () => {
    judge.reset();
    undo.mutate();
  };
  return (
    <section className="card stack reader" aria-label="Selected hit">
      <div className="row">
        <strong className="anywhere">{place(hit)}</strong>
        {hit.symbol && <code>{hit.symbol}</code>}
        <button
          type="button"
          className="button plain small"
          aria-label="Close the hit"
          onClick={onClose}
        >
          ✕
        </button>
      </div>
      <Writer>
        <Grades grade={grade} busy={busy} onGrade={give} onUndo={takeBack} />
      </Writer>
      <Problem of={judge.error ?? undo.error} />
      <Loaded of={content}>
        {({ text, language }) => (
          <Code
            label={`Text of ${hit.path}`}
            text={text}
            language={language}
            first={hit.start_line}
            last={hit.end_line}
            query={query.query_text}
          />
        )}
      </Loaded>
    </section>
  );
}
