import type { TrendPoint } from "@/api/types";
import type { Series } from "@/charts/Lines";
import { moment, score } from "@/words/format";

/** One line per configuration, by its name, through the runs that have a score. */
export function series(points: readonly TrendPoint[], metric: string): Series[] {
  const found = new Map<string, Series["points"][number][]>();
  for (const point of points) {
    const y = point.values[metric];
    if (y == null) continue;
    const line = found.get(point.run_name) ?? [];
    const bounds = point.intervals[metric];
    const told = [
      `${point.benchmark_name}: ${point.run_name}`,
      `${score(y)}, ${moment(point.created_at)}`,
      ...point.annotations,
    ].join("\n");
    line.push({ x: Date.parse(point.created_at), y, told, ...(bounds ? { bounds } : {}) });
    found.set(point.run_name, line);
  }
  return [...found].map(([name, line]) => ({
    id: name,
    name,
    points: line.sort((a, b) => a.x - b.x),
  }));
}

/** What people noted, once per benchmark, at the time of its first run. */
export function remarks(points: readonly TrendPoint[]): { x: number; text: string }[] {
  const noted = new Map<string, { x: number; text: string }>();
  for (const { benchmark_id, created_at, annotations } of points) {
    if (annotations.length === 0 || noted.has(benchmark_id)) continue;
    noted.set(benchmark_id, { x: Date.parse(created_at), text: annotations.join("\n") });
  }
  return [...noted.values()];
}

const DAY_MS = 24 * 3600 * 1000;

/** How a time is written: as a day, or as the hour where all runs are of two days. */
export function dates(points: readonly TrendPoint[]): (at: number) => string {
  const times = points.map(({ created_at }) => Date.parse(created_at));
  const short = Math.max(...times) - Math.min(...times) < 2 * DAY_MS;
  return (at) =>
    short
      ? new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
      : new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}
