import { Link } from "wouter";
import type { Details, Results } from "@/api/types";

/** The verdict: its first sentence is the outcome, the others are the numbers behind it. */
export function Verdict({ text }: { text: string | null }) {
  if (!text) return null;
  const [outcome = text, ...numbers] = text.split(/(?<=\.) /);
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

type AdviceProps = { id: string; details: Details | undefined };

/** Which run to take for what, and what the tags and options show. */
export function Advice({ id, details }: AdviceProps) {
  if (!details) return null;
  const sentences = [...details.insights, ...details.remarks];
  return (
    <>
      {details.recommendations.length > 0 && (
        <ul className="advice" aria-label="Recommendations">
          {details.recommendations.map(({ purpose, run, run_id, why, certainty }) => (
            <li key={purpose} className="card">
              <small>{purpose}</small>
              <Link href={`/benchmarks/${id}/runs/${run_id}`}>{run}</Link>
              <span>{why}</span>
              <small>{certainty}</small>
            </li>
          ))}
        </ul>
      )}
      {sentences.length > 0 && (
        <ul className="insights" aria-label="Insights">
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
    </>
  );
}

type Props = { id: string; results: Results; details: Details | undefined };

/** Warnings first, then the verdict, then what follows from it. */
export function Outcome({ id, results, details }: Props) {
  return (
    <>
      <Warnings details={details} />
      <Verdict text={results.summary.comparison} />
      <Advice id={id} details={details} />
    </>
  );
}
