const MISSING = "–";

/** Digits behind the point: three of a score, one of a large number such as a count of lines. */
const fixed = (value: number): string => value.toFixed(Math.abs(value) < 100 ? 3 : 1);

/** A score; a missing one is a dash, never 0. */
export const score = (value: number | null | undefined): string =>
  value == null ? MISSING : fixed(value);

/** A change with its sign. */
export function change(value: number | null | undefined): string {
  if (value == null) return MISSING;
  const digits = fixed(Math.abs(value));
  if (Number(digits) === 0) return digits;
  return `${value > 0 ? "+" : "−"}${digits}`;
}

export const interval = (bounds: readonly [number, number] | number[] | undefined): string =>
  bounds ? `[${score(bounds[0])}, ${score(bounds[1])}]` : "";

/** A probability; tiny ones are bounded instead of shown as 0. */
export function probability(p: number | null | undefined): string {
  if (p == null) return MISSING;
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** Milliseconds with three significant digits, as seconds from ten seconds on. */
export function milliseconds(ms: number | null | undefined): string {
  if (ms == null) return MISSING;
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 100 ? ms.toFixed(0) : ms.toPrecision(3)} ms`;
}

export const count = (value: number): string => value.toLocaleString("en");

export const plural = (value: number, noun: string, many = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : many}`;

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 ** 2) return `${(value / 1024).toFixed(1)} kB`;
  return `${(value / 1024 ** 2).toFixed(1)} MB`;
}

/** The moment in the reader's zone, to the minute. */
export function moment(at: string | null | undefined): string {
  if (!at) return MISSING;
  return new Date(at).toLocaleString("en-GB", {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
}

/** Where a hit or a target lies; line 0 means the whole document. */
export function place(hit: { path: string; start_line: number; end_line: number }): string {
  if (hit.start_line === 0) return hit.path;
  const { start_line: first, end_line: last } = hit;
  return `${hit.path}:${first === last ? first : `${first}-${last}`}`;
}
