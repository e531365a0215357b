import type { DrilldownHit } from "@/api/types";

/** What makes two hits of two runs the same: the place. */
export const hitKey = ({
  path,
  start_line,
  end_line,
}: Pick<DrilldownHit, "path" | "start_line" | "end_line">) => `${path}:${start_line}-${end_line}`;

/** The places that both lists hold, as their positions from 0 in each. */
export function joined(
  left: readonly DrilldownHit[],
  right: readonly DrilldownHit[],
): [number, number][] {
  const places = new Map(right.map((hit, at) => [hitKey(hit), at]));
  return left.flatMap((hit, at) => {
    const other = places.get(hitKey(hit));
    return other === undefined ? [] : [[at, other] as [number, number]];
  });
}
