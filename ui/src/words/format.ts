const MISSING = "–";

/** Digits behind the point: three of a score, one of a large number such as a count of lines. */
const fixed = (value: number, digits = 3): string =>
  value.toFixed(Math.abs(value) < 100 ? digits : 1);

/** A score; a missing one is a dash, never 0. */
export const score = (value: number | null | undefined): string =>
  value == null ? MISSING : fixed(value);

/** Decimals with which no value but 0 is shown as 0; at least three. */
export function decimals(...values: (number | null | undefined)[]): number {
  const sizes = values.map((value) => Math.abs(value ?? 0)).filter((size) => size > 1e-9);
  return Math.max(3, Math.ceil(-Math.log10(Math.min(1, ...sizes)) - 1e-9));
}

/** A change with its sign; of a difference with its interval all have the same digits. */
export function change(value: number | null | undefined, digits = decimals(value)): string {
  if (value == null) return MISSING;
  const size = fixed(Math.abs(value), digits);
  if (Number(size) === 0) return size;
  return `${value > 0 ? "+" : "−"}${size}`;
}

/** A difference and its interval, such as `+0.041` and `[+0.012, +0.070]`. */
export function difference(run: {
  difference: number | null;
  low: number | null;
  high: number | null;
}): [string, string] {
  const digits = decimals(run.difference, run.low, run.high);
  const ends = `[${change(run.low, digits)}, ${change(run.high, digits)}]`;
  return [change(run.difference, digits), run.low === null ? "" : ends];
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

/** The time between two moments, in its largest unit or the two largest. */
export function duration(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Where a hit or a target lies; line 0 means the whole document. */
export function place(hit: { path: string; start_line: number; end_line: number }): string {
  if (hit.start_line === 0) return hit.path;
  const { start_line: first, end_line: last } = hit;
  return `${hit.path}:${first === last ? first : `${first}-${last}`}`;
}
