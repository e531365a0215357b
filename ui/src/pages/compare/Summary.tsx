import type { Comparison, ComparisonRun } from "@/api/types";
import { Verdict } from "@/pages/results/Outcome";
import { Badge } from "@/parts/Badge";
import { type Column, DataTable } from "@/parts/DataTable";
import { Term } from "@/parts/Term";
import { DEFINITIONS } from "@/words/definitions";
import { change, difference, probability, score } from "@/words/format";
import { useMeasure } from "@/words/measures";
import { OUTCOMES, type Outcome, tone } from "./deltas";

type Props = {
  comparison: Comparison;
  /** The measure as it was typed. */
  label: string;
  /** Called with a run and which of its queries are asked for. */
  onQueries: (run: string, show: Outcome) => void;
};

const TONES = { better: "good", worse: "bad" } as const;

function verdictTone(verdict: ComparisonRun["verdict"]) {
  return verdict === "better" || verdict === "worse" ? TONES[verdict] : undefined;
}

/** Every run against the baseline, by a paired test, in words and numbers. */
export function Summary({ comparison, label, onQueries }: Props) {
  const measure = useMeasure();
  const isBaseline = (run: ComparisonRun) => run.run_id === comparison.baseline;
  const columns: Column<ComparisonRun>[] = [
    { id: "name", header: "Run", sort: (run) => run.name.toLowerCase(), cell: (run) => run.name },
    {
      id: "verdict",
      header: "Verdict",
      means: DEFINITIONS.verdict,
      sort: (run) => run.verdict,
      cell: (run) => (
        <Badge tone={verdictTone(run.verdict)}>
          {run.mean === null ? `no ${label}` : run.verdict}
        </Badge>
      ),
    },
    {
      id: "mean",
      header: label,
      means: measure(comparison.metric),
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
            {difference(run)[0]}
            {run.low !== null && <small>{difference(run)[1]}</small>}
          </>
        ),
    },
    {
      id: "p",
      header: "p corrected",
      means: `${DEFINITIONS.pCorrected} Hover over a value to see it without the correction.`,
      numeric: true,
      sort: (run) => run.p_corrected,
      cell: (run) =>
        isBaseline(run) ? (
          "–"
        ) : (
          <Term means={run.p === null ? "" : `p uncorrected: ${probability(run.p)}`}>
            {probability(run.p_corrected)}
          </Term>
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
      header: "Improved · regressed · tied",
      means: `${DEFINITIONS.counts} Press a number to see these queries.`,
      numeric: true,
      sort: (run) => run.improved - run.regressed,
      cell: (run) =>
        isBaseline(run) || run.mean === null ? (
          "–"
        ) : (
          <span className="counts">
            {OUTCOMES.map((one) => (
              <button
                key={one}
                type="button"
                className="button plain small"
                aria-label={`${run[one]} ${one} in ${run.name}`}
                onClick={() => onQueries(run.run_id, one)}
              >
                <span className={tone(one)}>{run[one]}</span>
              </button>
            ))}
          </span>
        ),
    },
  ];
  return (
    <div className="stack">
      <Verdict text={comparison.verdict} />
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
