import type { ScoreMatrix } from "@/api/types";

/** One query in two runs; a query without a score in either has no change. */
export type Pair = {
  id: string;
  text: string;
  left: number | null;
  right: number | null;
  change: number | null;
};

export type Outcome = "improved" | "regressed" | "tied";

type Side = { matrix: ScoreMatrix; run: string };

function column({ matrix, run }: Side): Map<string, { text: string; value: number | null }> {
  const at = matrix.runs.indexOf(run);
  return new Map(
    matrix.queries.map((id, row) => [
      id,
      { text: matrix.texts[row] ?? id, value: matrix.values[row]?.[at] ?? null },
    ]),
  );
}

/** The queries of both sides, in the order of the left one. */
export function pairs(left: Side, right: Side): Pair[] {
  const others = column(right);
  return [...column(left)].flatMap(([id, { text, value }]) => {
    const other = others.get(id);
    if (!other) return [];
    const change = value === null || other.value === null ? null : other.value - value;
    return [{ id, text, left: value, right: other.value, change }];
  });
}

// Scores are sums in floating point; a difference this small is none.
const EQUAL = 1e-9;

/** What a change is worth; where *isLower*, a smaller score is the better one. */
export function outcome(change: number | null, isLower = false): Outcome | null {
  if (change === null) return null;
  if (Math.abs(change) < EQUAL) return "tied";
  return change > 0 !== isLower ? "improved" : "regressed";
}

export const OUTCOMES: readonly Outcome[] = ["improved", "regressed", "tied"];
const TONES = { improved: "gain", regressed: "loss", tied: undefined } as const;

/** The colour of a change, or of what came out; none where nothing changed. */
export function tone(of: number | null | Outcome, isLower = false): "gain" | "loss" | undefined {
  const found = typeof of === "string" ? of : outcome(of, isLower);
  return found ? TONES[found] : undefined;
}
