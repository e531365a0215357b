import { expect, it } from "vitest";
import type { TrendPoint } from "@/api/types";
import { remarks, series } from "./series";

const point = (benchmark: string, run: string, day: number, value: number | null): TrendPoint => ({
  benchmark_id: benchmark,
  benchmark_name: benchmark,
  run_id: `${benchmark}.${run}`,
  run_name: run,
  created_at: `2026-03-0${day}T00:00:00Z`,
  commit: null,
  values: { mrr: value },
  intervals: {},
  annotations: benchmark === "b2" ? ["new stemmer"] : [],
});
const POINTS = [
  point("b2", "dense", 2, 0.5),
  point("b2", "hybrid", 2, null),
  point("b1", "dense", 1, 0.4),
];

it("joins the runs of one configuration in the order of time, without those that have no score", () => {
  const lines = series(POINTS, "mrr");
  expect(lines.map(({ name, points }) => [name, points.map(({ y }) => y)])).toEqual([
    ["dense", [0.4, 0.5]],
  ]);
});

it("marks each benchmark's remarks once", () => {
  expect(remarks(POINTS)).toEqual([{ x: Date.parse("2026-03-02"), text: "new stemmer" }]);
});
