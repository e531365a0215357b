import { expect, it } from "vitest";
import { matrix, runId } from "@/testing/fixtures";
import { outcome, pairs } from "./deltas";

it("pairs the queries of two runs", () => {
  const both = matrix();
  const rows = pairs({ matrix: both, run: runId(0) }, { matrix: both, run: runId(1) });
  expect(rows.map(({ id, change }) => [id, change])).toEqual([
    ["q1", 0.5],
    ["q2", -0.5],
    ["q3", 0],
  ]);
  expect(rows.map(({ change }) => outcome(change))).toEqual(["improved", "regressed", "tied"]);
});

it("pairs only the queries that both sides have, and calls a missing score no change", () => {
  const left = matrix();
  const right = {
    ...matrix(),
    queries: ["q3", "q1", "new"],
    values: [
      [null, null],
      [1, 1],
      [1, 1],
    ],
  };
  const rows = pairs({ matrix: left, run: runId(0) }, { matrix: right, run: runId(1) });
  expect(rows.map(({ id, change }) => [id, change])).toEqual([
    ["q1", 0.5],
    ["q3", null],
  ]);
});
