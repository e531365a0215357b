/** The six levels of one hue; the ramp is steep, so that only the best cells are strong. */
export const LEVELS = ["h0", "h1", "h2", "h3", "h4", "h5"] as const;

/** Which level a score between 0 and 1 has: 0 alone is the lowest, 1 alone the highest. */
export function level(value: number): number {
  if (value <= 0) return 0;
  if (value >= 1) return 5;
  return 1 + Math.min(3, Math.floor(value * 4));
}

const mean = (values: readonly (number | null)[]): number => {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : -1;
};

const spread = (values: readonly (number | null)[]): number => {
  const known = values.filter((value) => value !== null);
  return known.length ? Math.max(...known) - Math.min(...known) : -1;
};

export type HeatOrder = "hardest" | "contested" | "dataset";

/** The order of the rows: hardest first, those on which runs differ most first, or as they came. */
export function ordered(values: readonly (readonly (number | null)[])[], by: HeatOrder): number[] {
  const rows = values.map((_, at) => at);
  if (by === "dataset") return rows;
  const keys = values.map((row) => (by === "hardest" ? mean(row) : -spread(row)));
  return rows.sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b);
}
