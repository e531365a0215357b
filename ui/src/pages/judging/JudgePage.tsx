import { useEffect, useState } from "react";
import { useBenchmark } from "@/api/benchmarks";
import { useContent } from "@/api/collections";
import { useDataset } from "@/api/datasets";
import { useGradeQueue, useUnjudged } from "@/api/judgments";
import type { HitOrder, Unjudged } from "@/api/types";
import { Code } from "@/parts/Code";
import { useKeys } from "@/parts/keys";
import { Empty, Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Pager } from "@/parts/Pager";
import { useUrlState } from "@/parts/urlState";
import { place, plural } from "@/words/format";
import { Grades } from "./Grades";
import { lineRange } from "./lineRange";
import { Unsaved } from "./Unsaved";

/** Hits of a benchmark that nobody has judged, one after another. */
export function JudgePage({ id }: { id: string }) {
  const dataset = useDataset(id);
  const [benchmark] = useUrlState("benchmark", "");
  const [page, setPage] = useUrlState("page", "1");
  const [order, setOrder] = useUrlState<HitOrder>("order", "rank");
  const unjudged = useUnjudged(id, benchmark || undefined, Number(page), order);
  return (
    <Page
      title="Judge"
      crumbs={[
        { label: "Datasets", to: "/datasets" },
        { label: dataset.data?.name ?? "Dataset", to: `/datasets/${id}` },
      ]}
      below={
        <p className="soft">
          Hits without a judgment. Grades are saved in the background and count when results are
          opened again.
        </p>
      }
    >
      {benchmark ? (
        <Loaded of={unjudged}>
          {(data) => (
            <div className="stack">
              <OrderChoice
                chosen={order}
                onChoose={(next) => {
                  setPage("1");
                  setOrder(next);
                }}
              />
              <Judging key={order} dataset={id} benchmark={benchmark} data={data} />
              <Pager of={data} noun="hits" onPage={(next) => setPage(String(next))} />
            </div>
          )}
        </Loaded>
      ) : (
        <Empty title="Open a benchmark to judge its hits">
          <p>Open a benchmark over this dataset and press “Judge unjudged hits”.</p>
        </Empty>
      )}
    </Page>
  );
}

type OrderProps = { chosen: HitOrder; onChoose: (order: HitOrder) => void };

/** Which hits come first; only a random sample of whole queries allows to correct model labels. */
function OrderChoice({ chosen, onChoose }: OrderProps) {
  return (
    <div>
      <label className="row soft">
        Order
        <select value={chosen} onChange={(event) => onChoose(event.target.value as HitOrder)}>
          <option value="rank">best ranked first</option>
          <option value="sample">random sample for trusted corrections</option>
        </select>
      </label>
      {chosen === "sample" && (
        <small className="soft">
          Whole queries in random order: stop after any query, and the judged ones represent all.
        </small>
      )}
    </div>
  );
}

type Hit = Unjudged["hits"][number];
type Props = { dataset: string; benchmark: string; data: Unjudged };

const key = (hit: Hit): string => `${place(hit)} ${hit.symbol} ${hit.query_id}`;

/**
 * The hits that are left to grade. One that was graded here is left out at once, whatever the list
 * of the server says; the one on view stays until it is graded, also if the list has lost it.
 */
function useOpenHits(dataset: string, data: Unjudged) {
  const { queue, ...saving } = useGradeQueue(dataset);
  const [graded, setGraded] = useState<readonly Hit[]>([]);
  // All that were graded here, also those that the list no longer has: undo comes back to them.
  const [given, setGiven] = useState<readonly Hit[]>([]);
  const [shown, setShown] = useState<Hit | null>(null);
  useEffect(() => {
    if (queue.isCurrent(data.version)) setGraded([]);
    queue.seen(data.version);
  }, [queue, data]);
  const done = new Set(graded.map(key));
  const open = data.hits.filter((hit) => !done.has(key(hit)));
  const hit = shown && !done.has(key(shown)) ? shown : open[0];
  const at = hit ? open.findIndex((one) => key(one) === key(hit)) : -1;
  const next = open[at + 1] ?? open.find((one) => one !== hit);
  const left = data.total - (data.hits.length - open.length);
  const give = (grade: number) => {
    if (!hit) return;
    const { query_id, path } = hit;
    queue.give({ query_id, path, ...lineRange(hit), grade, reason: "" });
    setGraded([...graded, hit]);
    setGiven([...given, hit]);
    setShown(next ?? null);
  };
  const undo = () => {
    queue.undo();
    const last = given.at(-1);
    if (!last) return;
    setGraded(graded.filter((one) => key(one) !== key(last)));
    setGiven(given.slice(0, -1));
    setShown(last);
  };
  const move = (step: number) => setShown(open[at + step] ?? hit ?? null);
  const moved = given.length > 0;
  return { hit, next, left, moved, give, undo, move, queue, saving };
}

function Judging({ dataset, benchmark, data }: Props) {
  const { hit, next, left, moved, give, undo, move, queue, saving } = useOpenHits(dataset, data);
  const collection = useBenchmark(benchmark).data?.collection_id ?? "";
  const content = useContent(collection, hit?.path);
  // Asked for ahead, so that it is there when its turn comes.
  useContent(collection, next?.path);
  useKeys({ j: () => move(1), k: () => move(-1), ...(hit ? {} : { u: undo }) });
  const unsaved = <Unsaved of={saving} onRetry={() => queue.retry()} onDrop={() => queue.drop()} />;
  const news = hit ? `Next hit: ${hit.query_text}, ${place(hit)}` : "Every hit is judged";
  return (
    <>
      {/* There before its text is: the page is read from its beginning, later what is new. */}
      <p className="unseen" role="status">
        {moved ? news : ""}
      </p>
      {hit ? (
        <section className="card stack" aria-label="Hit to judge">
          <p className="soft">
            {plural(left, "unjudged hit")} left · <kbd>j</kbd> <kbd>k</kbd> next, previous
          </p>
          <h2 className="anywhere">{hit.query_text}</h2>
          <div className="row">
            <strong className="anywhere">{place(hit)}</strong>
            {hit.symbol && <code>{hit.symbol}</code>}
            <span className="soft">
              best rank {hit.best_rank}, found by {plural(hit.runs.length, "run")}
            </span>
          </div>
          <Grades grade={null} busy={false} onGrade={give} onUndo={undo} />
          {unsaved}
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
      ) : (
        <>
          {unsaved}
          <Empty title={left > 0 ? "Loading more hits…" : "Every hit is judged"}>
            <p>New benchmarks may return new hits.</p>
            <button type="button" className="button" onClick={undo}>
              <kbd>u</kbd> undo the last grade
            </button>
          </Empty>
        </>
      )}
    </>
  );
}
