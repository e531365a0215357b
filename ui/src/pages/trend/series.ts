import type { TrendPoint } from "@/api/types";
import { colour, GREY } from "@/charts/colours";
import type { Series } from "@/charts/Lines";
import { type Line, together } from "@/charts/together";
import { shortId } from "@/parts/Revision";
import { moment, score } from "@/words/format";

/** The horizontal axis of a trend: where a point lies, if anywhere, and how a place is written. */
export type Axis = {
  label: string;
  place: (point: TrendPoint) => number | undefined;
  format: (x: number) => string;
};

const DAY_MS = 24 * 3600 * 1000;
const when = (point: TrendPoint): number => Date.parse(point.created_at);

/**
 * One step for each benchmark, in the order in which they were made: however soon it was repeated.
 * Below it the day, or the hour where all are of two days.
 */
export function benchmarkAxis(points: readonly TrendPoint[]): Axis {
  const made = new Map<string, number>();
  for (const point of points) {
    const before = made.get(point.benchmark_id) ?? Number.POSITIVE_INFINITY;
    made.set(point.benchmark_id, Math.min(before, when(point)));
  }
  const ordered = [...made].sort(([, a], [, b]) => a - b);
  const steps = new Map(ordered.map(([id], at) => [id, at]));
  const times = ordered.map(([, time]) => time);
  const short = (times.at(-1) ?? 0) - (times[0] ?? 0) < 2 * DAY_MS;
  const format = (at: number) => {
    const time = new Date(times[at] ?? 0);
    return short
      ? time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
      : time.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  };
  return { label: "benchmark", place: (point) => steps.get(point.benchmark_id), format };
}

/** Which commit was searched: one step for each, in the order in which they were made. */
export function commitAxis(points: readonly TrendPoint[]): Axis {
  const known = new Map(points.flatMap(({ commit }) => (commit ? [[commit.id, commit]] : [])));
  const commits = [...known.values()].sort(
    (a, b) => Date.parse(a.committed_at) - Date.parse(b.committed_at),
  );
  const steps = new Map(commits.map(({ id }, at) => [id, at]));
  return {
    label: "commit",
    place: ({ commit }) => (commit ? steps.get(commit.id) : undefined),
    format: (at) => (commits[at] ? shortId(commits[at]) : ""),
  };
}

function told(point: TrendPoint, value: number): string {
  return [
    `${point.benchmark_name}: ${point.run_name}`,
    `${score(value)}, ${moment(point.created_at)}`,
    ...(point.commit ? [`${shortId(point.commit)} ${point.commit.subject}`] : []),
    ...point.annotations,
  ].join("\n");
}

/** One line per configuration, by its name, through the runs that have a score and a place. */
export function series(points: readonly TrendPoint[], metric: string, axis: Axis): Line[] {
  const found = new Map<string, Line["points"][number][]>();
  for (const point of [...points].sort((a, b) => when(a) - when(b))) {
    const y = point.values[metric];
    const x = axis.place(point);
    if (y == null || x === undefined) continue;
    const line = found.get(point.run_name) ?? [];
    const bounds = point.intervals[metric];
    line.push({ x, y, told: told(point, y), ...(bounds ? { bounds } : {}) });
    found.set(point.run_name, line);
  }
  const lines = [...found].map(([name, line]) => ({
    id: name,
    name,
    points: line.sort((a, b) => a.x - b.x),
  }));
  return together(lines);
}

// More lines than these cannot be followed.
const FOLLOWED = 4;

/** The lines with the colours of those that are *chosen*, by default the first ones; others are grey. */
export function coloured(lines: readonly Line[], chosen: readonly string[] | null): Series[] {
  const followed = chosen ?? lines.slice(0, FOLLOWED).map(({ id }) => id);
  return lines.map((line) => {
    const at = followed.indexOf(line.id);
    return { ...line, shade: at < 0 ? GREY : colour(at) };
  });
}

/** What people noted, once per benchmark, at the place of its first run. */
export function remarks(points: readonly TrendPoint[], axis: Axis): { x: number; text: string }[] {
  const noted = new Map<string, { x: number; text: string }>();
  for (const point of points) {
    const x = axis.place(point);
    if (point.annotations.length === 0 || x === undefined || noted.has(point.benchmark_id))
      continue;
    noted.set(point.benchmark_id, { x, text: point.annotations.join("\n") });
  }
  return [...noted.values()];
}
