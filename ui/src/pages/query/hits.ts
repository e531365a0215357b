import type { DrilldownHit, DrilldownTarget } from "@/api/types";

type Place = Pick<DrilldownHit, "path" | "start_line" | "end_line">;
export type Key = (hit: Place) => string;

/** The name of a place, in the address of the page. */
export const hitKey: Key = ({ path, start_line, end_line }) => `${path}:${start_line}-${end_line}`;

/**
 * What makes hits of two runs the same: the lines, or the document alone where the truth names no
 * lines, since there each document is counted once, whichever of its chunks was found.
 */
export function sameness(targets: readonly DrilldownTarget[]): Key {
  return targets.every(({ start_line }) => start_line === 0) ? ({ path }) => path : hitKey;
}

/** The hits that both lists hold, as their positions from 0 in each. */
export function joined(
  left: readonly Place[],
  right: readonly Place[],
  key: Key,
): [number, number][] {
  const places = new Map(right.map((hit, at) => [key(hit), at]));
  return left.flatMap((hit, at) => {
    const other = places.get(key(hit));
    return other === undefined ? [] : [[at, other] as [number, number]];
  });
}
