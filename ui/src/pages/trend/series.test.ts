import { expect, it } from "vitest";
import type { TrendPoint } from "@/api/types";
import { commitAxis, remarks, series, timeAxis } from "./series";

const commit = (letter: string, day: number): TrendPoint["commit"] => ({
  id: letter.repeat(40),
  subject: `change ${letter}`,
  committed_at: `2026-02-0${day}T00:00:00Z`,
});
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
const TIME = timeAxis(POINTS);

it("joins the runs of one configuration in the order of time, without those that have no score", () => {
  const lines = series(POINTS, "mrr", TIME);
  expect(lines.map(({ name, points }) => [name, points.map(({ y }) => y)])).toEqual([
    ["dense", [0.4, 0.5]],
  ]);
});

it("marks each benchmark's remarks once", () => {
  expect(remarks(POINTS, TIME)).toEqual([{ x: Date.parse("2026-03-02"), text: "new stemmer" }]);
});

it("orders commits by when they were made, whenever they were measured", () => {
  // The older commit was measured last; one benchmark searched none.
  const points = [
    { ...point("b1", "dense", 1, 0.6), commit: commit("b", 2) },
    { ...point("b2", "dense", 2, 0.5), commit: commit("a", 1) },
    point("b3", "dense", 3, 0.9),
  ];
  const axis = commitAxis(points);
  const [line] = series(points, "mrr", axis);
  expect(line?.points.map(({ x, y }) => [axis.format(x), y])).toEqual([
    ["aaaaaaa", 0.5],
    ["bbbbbbb", 0.6],
  ]);
  expect(line?.points[0]?.told).toContain("aaaaaaa change a");
  expect(remarks(points, axis)).toEqual([{ x: 0, text: "new stemmer" }]);
});
