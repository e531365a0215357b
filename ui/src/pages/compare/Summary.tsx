import type { Comparison, ComparisonRun } from "@/api/types";
import { Badge } from "@/parts/Badge";
import { type Column, DataTable } from "@/parts/DataTable";
import { DEFINITIONS } from "@/words/definitions";
import { change, probability, score } from "@/words/format";

type Props = {
  comparison: Comparison;
  onBaseline: (run: string) => void;
  onQueries: (run: string) => void;
};

const TONES = { better: "good", worse: "bad" } as const;

function tone(verdict: ComparisonRun["verdict"]) {
  return verdict === "better" || verdict === "worse" ? TONES[verdict] : undefined;
}

/** Every run against the baseline, by a paired test, in words and numbers. */
export function Summary({ comparison, onBaseline, onQueries }: Props) {
  const isBaseline = (run: ComparisonRun) => run.run_id === comparison.baseline;
  const columns: Column<ComparisonRun>[] = [
    { id: "name", header: "Run", sort: (run) => run.name.toLowerCase(), cell: (run) => run.name },
    {
      id: "verdict",
      header: "Verdict",
      sort: (run) => run.verdict,
      cell: (run) => <Badge tone={tone(run.verdict)}>{run.verdict}</Badge>,
    },
    {
      id: "mean",
      header: comparison.metric,
      numeric: true,
      sort: (run) => run.mean,
      cell: (run) => score(run.mean),
    },
    {
      id: "difference",
      header: "Difference",
      means: DEFINITIONS.difference,
      numeric: true,
      sort: (run) => run.difference,
      cell: (run) =>
        isBaseline(run) ? (
          "–"
        ) : (
          <>
            {change(run.difference)}
            {run.low !== null && (
              <small>
                [{change(run.low)}, {change(run.high)}]
              </small>
            )}
          </>
        ),
    },
    {
      id: "p",
      header: "p",
      means: `${DEFINITIONS.pCorrected} The smaller number is uncorrected.`,
      numeric: true,
      sort: (run) => run.p_corrected,
      cell: (run) =>
        isBaseline(run) ? (
          "–"
        ) : (
          <>
            {probability(run.p_corrected)}
            {run.p !== null && <small>{probability(run.p)}</small>}
          </>
        ),
    },
    {
      id: "effect",
      header: "Effect",
      means: DEFINITIONS.effect,
      numeric: true,
      sort: (run) => run.effect,
      cell: (run) => (isBaseline(run) ? "–" : change(run.effect)),
    },
    {
      id: "counts",
      header: "Improved / regressed / tied",
      means: DEFINITIONS.counts,
      numeric: true,
      sort: (run) => run.improved - run.regressed,
      cell: (run) =>
        isBaseline(run) ? (
          <span className="soft">baseline</span>
        ) : (
          <button type="button" className="button small" onClick={() => onQueries(run.run_id)}>
            <span className="gain">{run.improved}</span> /{" "}
            <span className="loss">{run.regressed}</span> / {run.tied}
          </button>
        ),
    },
    {
      id: "baseline",
      header: "",
      cell: (run) =>
        !isBaseline(run) && (
          <button
            type="button"
            className="button plain small"
            onClick={() => onBaseline(run.run_id)}
          >
            Make baseline
          </button>
        ),
    },
  ];
  return (
    <div className="stack">
      <p className="verdict">{comparison.verdict}</p>
      <DataTable
        label="Runs against the baseline"
        columns={columns}
        rows={comparison.runs}
        rowKey={(run) => run.run_id}
        order="-mean"
        chosen={isBaseline}
      />
    </div>
  );
}
