import { useKeys } from "@/parts/keys";
import { Term } from "@/parts/Term";
import { DEFINITIONS } from "@/words/definitions";

const GRADES = ["not relevant", "marginal", "relevant", "highly relevant"] as const;

type Props = {
  grade: number | null;
  busy: boolean;
  onGrade: (grade: number) => void;
  onUndo: () => void;
};

/** Four grades by mouse or by the keys 0 to 3, and u takes the last one back. */
export function Grades({ grade, busy, onGrade, onUndo }: Props) {
  const keys = GRADES.map((_, value) => [String(value), () => onGrade(value)]);
  // A second grade must wait for the version that the first one makes.
  useKeys(busy ? {} : { ...Object.fromEntries(keys), u: onUndo });
  return (
    <fieldset className="row">
      <legend className="unseen">Grade</legend>
      <Term means={DEFINITIONS.grade}>Grade</Term>
      {GRADES.map((name, value) => (
        <button
          key={name}
          type="button"
          className="button small"
          aria-pressed={grade === value}
          disabled={busy}
          onClick={() => onGrade(value)}
        >
          <kbd>{value}</kbd> {name}
        </button>
      ))}
      <button type="button" className="button plain small" disabled={busy} onClick={onUndo}>
        <kbd>u</kbd> undo
      </button>
    </fieldset>
  );
}
