export type Point = { id: string; name: string; latency: number; value: number; best: boolean };

/** The points that no other beats in both: as fast or faster, and better. Fastest first. */
export function front(points: readonly Point[]): Point[] {
  const byTime = [...points].sort((a, b) => a.latency - b.latency || b.value - a.value);
  const kept: Point[] = [];
  for (const point of byTime) {
    const last = kept.at(-1);
    if (!last || point.value > last.value) kept.push(point);
  }
  return kept;
}
