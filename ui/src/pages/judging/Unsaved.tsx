import type { QueueState } from "@/api/gradeQueue";
import { Problem } from "@/parts/Notes";
import { plural } from "@/words/format";

type Props = { of: QueueState; onRetry: () => void; onDrop: () => void };

/** How many grades are not saved yet, and why, where something is in the way. */
export function Unsaved({ of: { unsaved, saved, problem, stuck }, onRetry, onDrop }: Props) {
  const waiting = unsaved > 0 && `${plural(unsaved, "grade")} not saved yet`;
  return (
    <>
      <p className="soft" role="status">
        {waiting || (saved > 0 ? "All grades are saved" : "")}
      </p>
      <Problem of={problem} />
      {problem != null && (
        <div className="row">
          <button type="button" className="button small" onClick={onRetry}>
            {stuck ? "Save anyway" : "Try again now"}
          </button>
          {stuck ? (
            <button type="button" className="button small" onClick={onDrop}>
              Drop this grade
            </button>
          ) : (
            <span className="soft">Nothing is lost: saving is retried automatically.</span>
          )}
        </div>
      )}
    </>
  );
}
