import { Link } from "wouter";
import type { Details, Results } from "@/api/types";

// Where a sentence of the verdict ends.
const END = /(?<=\.) /;

/** The verdict: its first sentence is the outcome, the others are the numbers behind it. */
export function Verdict({ text }: { text: string | null }) {
  if (!text) return null;
  const [outcome = text, ...numbers] = text.split(END);
  return (
    <div className="verdict">
      <p>
        <strong>{outcome}</strong>
      </p>
      {numbers.length > 0 && <p className="soft">{numbers.join(" ")}</p>}
    </div>
  );
}

/** What must be read before any number: scores that must not be used, runs that do not compare. */
export function Warnings({ details }: { details: Details | undefined }) {
  if (!details) return null;
  return (
    <>
      <Sentences title="Warning" lines={details.warnings} />
      <Sentences
        title="Not comparable: the runs did not answer the same question"
        lines={details.not_comparable}
      />
    </>
  );
}

function Sentences({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className="note warn" role="note">
      <strong>{title}</strong>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

type AdviceProps = { id: string; details: Details };

/** Which run to take for what: a card for each run that is recommended. */
function Advice({ id, details }: AdviceProps) {
  const runs = [...new Set(details.recommendations.map(({ run_id }) => run_id))];
  if (runs.length === 0) return null;
  return (
    <ul className="advice" aria-label="Recommendations">
      {runs.map((run) => {
        const advice = details.recommendations.filter(({ run_id }) => run_id === run);
        return (
          <li key={run} className="card" style={{ flexGrow: advice.length }}>
            <Link href={`/benchmarks/${id}/runs/${run}`}>{advice[0]?.run}</Link>
            <div className="reasons">
              {advice.map(({ purpose, why, certainty }) => (
                <p key={purpose}>
                  <small>{purpose}</small>
                  <span>{why}</span>
                  <small>{certainty}</small>
                </p>
              ))}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** What the reader has to know of the dataset, such as targets that do not exist. */
function Remarks({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <ul className="insights" aria-label="Remarks on the dataset">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

type Props = { id: string; results: Results; details: Details | undefined };

/** Warnings first, then the verdict, then what follows from it. */
export function Outcome({ id, results, details }: Props) {
  return (
    <>
      <Warnings details={details} />
      <Verdict text={results.summary.comparison} />
      {details && <Advice id={id} details={details} />}
      {details && <Remarks lines={details.remarks} />}
    </>
  );
}

/** The outcome in one line, for views of which another one is the subject; warnings stay. */
export function OutcomeLine({ results, details }: Omit<Props, "id">) {
  const [outcome] = results.summary.comparison?.split(END) ?? [];
  return (
    <>
      <Warnings details={details} />
      {outcome && <p className="verdict">{outcome}</p>}
    </>
  );
}
