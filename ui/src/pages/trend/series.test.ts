import { expect, it } from "vitest";
import type { TrendPoint } from "@/api/types";
import { benchmarkAxis, coloured, commitAxis, remarks, series } from "./series";

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
const AXIS = benchmarkAxis(POINTS);

it("joins the runs of one configuration in the order of time, without those that have no score", () => {
  const lines = series(POINTS, "mrr", AXIS);
  expect(lines.map(({ name, points }) => [name, points.map(({ y }) => y)])).toEqual([
    ["dense", [0.4, 0.5]],
  ]);
});

it("marks each benchmark's remarks once", () => {
  expect(remarks(POINTS, AXIS)).toEqual([{ x: 1, text: "new stemmer" }]);
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

it("has one place for all runs of a benchmark, and equal steps between benchmarks", () => {
  const later = { ...point("b2", "sparse", 2, 0.3), created_at: "2026-03-02T00:00:41Z" };
  const axis = benchmarkAxis([...POINTS, later, point("b9", "dense", 9, 0.6)]);
  expect(axis.place(later)).toBe(axis.place(POINTS[0] as TrendPoint));
  expect(["b1", "b2", "b9"].map((id) => axis.place(point(id, "dense", 1, 0)))).toEqual([0, 1, 2]);
  expect(axis.format(2)).toBe("9 Mar");
});

it("draws lines that lie on each other once, and the best ones in colour", () => {
  const values = { a: 0.1, b: 0.2, c: 0.2, d: 0.3, e: 0.4, f: 0.5 };
  const points = Object.entries(values).map(([run, value]) => point("b1", run, 1, value));
  const lines = series(points, "mrr", benchmarkAxis(points));
  expect(lines.map(({ name }) => name)).toEqual(["f", "e", "d", "b, c", "a"]);
  const shades = (chosen: readonly string[] | null) =>
    coloured(lines, chosen).map(({ shade }) => shade);
  expect(shades(null)).toEqual(["c0", "c1", "c2", "c3", "cx"]);
  expect(shades(["a"])).toEqual(["cx", "cx", "cx", "cx", "c0"]);
});
