import { useEffect, useRef } from "react";
import type { DrilldownHit, DrilldownRun } from "@/api/types";
import { useKeys } from "@/parts/keys";
import { place, plural } from "@/words/format";
import { hitKey, joined, type Key } from "./hits";

// The style sheet gives every hit this height, so that lines meet them.
const ROW = 47;
const WIDTH = 72;

type Props = {
  left: DrilldownRun | undefined;
  right: DrilldownRun | undefined;
  same: Key;
  chosen: string;
  onChoose: (key: string) => void;
};

/** Two rankings side by side, with a line between the hits that both runs returned. */
export function RankLines({ left, right, same, chosen, onChoose }: Props) {
  const lists = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another hit was chosen.
  useEffect(() => {
    lists.current?.querySelector("[aria-expanded='true']")?.scrollIntoView?.({ block: "nearest" });
  }, [chosen]);
  const all = [...(left?.hits ?? []), ...(right?.hits ?? [])];
  const step = (by: number) => {
    const at = all.findIndex((hit) => hitKey(hit) === chosen);
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (next) onChoose(hitKey(next));
  };
  useKeys({ j: () => step(1), k: () => step(-1), escape: () => onChoose("") });
  if (!right) return null;
  const toggle = (key: string) => onChoose(key === chosen ? "" : key);
  if (!left || left === right) return <List run={right} chosen={chosen} onChoose={toggle} />;
  const lines = joined(left.hits, right.hits, same);
  const height = ROW * Math.max(left.hits.length, right.hits.length);
  return (
    <section ref={lists} aria-label="Rankings">
      <p className="soft">
        {plural(lines.length, "hit")} in both runs, {left.hits.length - lines.length} only in the
        left one, {right.hits.length - lines.length} only in the right one
      </p>
      <div className="ranks">
        <List run={left} chosen={chosen} onChoose={toggle} />
        <svg
          className="chart"
          viewBox={`0 0 ${WIDTH} ${height}`}
          height={height}
          aria-hidden="true"
        >
          {lines.map(([from, to]) => (
            <line
              key={from}
              className={left.hits[from]?.relevant ? "joins relevant" : "joins"}
              x1={0}
              x2={WIDTH}
              y1={ROW * (from + 0.5)}
              y2={ROW * (to + 0.5)}
            />
          ))}
        </svg>
        <List run={right} chosen={chosen} onChoose={toggle} />
      </div>
    </section>
  );
}

const EMPTY: Partial<Record<DrilldownRun["status"], string>> = {
  error: "the query failed",
  timeout: "the query timed out",
  missing: "the run has no result for this query",
};

type ListProps = { run: DrilldownRun; chosen: string; onChoose: (key: string) => void };

function List({ run, chosen, onChoose }: ListProps) {
  if (run.hits.length === 0) {
    return (
      <div>
        <p className="soft">
          {run.name}: {EMPTY[run.status] ?? "no hits"}.
        </p>
        {run.error && <pre className="said">{run.error}</pre>}
      </div>
    );
  }
  return (
    <ol className="hits" aria-label={`Hits of ${run.name}`}>
      {run.hits.map((hit) => (
        <li key={hit.rank}>
          <button
            type="button"
            className={hit.relevant ? "hit relevant" : "hit"}
            aria-expanded={hitKey(hit) === chosen}
            title={place(hit)}
            onClick={() => onChoose(hitKey(hit))}
          >
            <span className="rank">{hit.rank}</span> <Place hit={hit} /> <Grade of={hit} />
          </button>
        </li>
      ))}
    </ol>
  );
}

/** The name of the document and the lines, the folder below it. */
function Place({ hit }: { hit: DrilldownHit }) {
  const whole = place(hit);
  const folder = hit.path.slice(0, hit.path.lastIndexOf("/") + 1);
  return (
    <span className="place">
      <bdi>{whole.slice(folder.length)}</bdi>{" "}
      <small>
        <bdi>{folder || hit.symbol}</bdi>
      </small>
      {folder && <span className="unseen">: {whole}</span>}
    </span>
  );
}

const gradeOf = ({ grade }: DrilldownHit): string =>
  grade === null ? "not judged" : `grade ${grade}`;

function Grade({ of }: { of: DrilldownHit }) {
  return <small className={of.relevant ? "gain" : undefined}>{gradeOf(of)}</small>;
}
