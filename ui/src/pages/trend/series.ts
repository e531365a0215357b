import type { TrendPoint } from "@/api/types";
import type { Series } from "@/charts/Lines";
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

/** When the benchmark was made: as a day, or as the hour where all runs are of two days. */
export function timeAxis(points: readonly TrendPoint[]): Axis {
  const times = points.map(when);
  const short = Math.max(...times) - Math.min(...times) < 2 * DAY_MS;
  const format = (at: number) =>
    short
      ? new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
      : new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return { label: "date", place: when, format };
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
export function series(points: readonly TrendPoint[], metric: string, axis: Axis): Series[] {
  const found = new Map<string, Series["points"][number][]>();
  for (const point of [...points].sort((a, b) => when(a) - when(b))) {
    const y = point.values[metric];
    const x = axis.place(point);
    if (y == null || x === undefined) continue;
    const line = found.get(point.run_name) ?? [];
    const bounds = point.intervals[metric];
    line.push({ x, y, told: told(point, y), ...(bounds ? { bounds } : {}) });
    found.set(point.run_name, line);
  }
  return [...found].map(([name, line]) => ({
    id: name,
    name,
    points: line.sort((a, b) => a.x - b.x),
  }));
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
