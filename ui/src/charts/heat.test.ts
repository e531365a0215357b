import { expect, it } from "vitest";
import { level, ordered } from "./heat";

it("only 0 is the lowest level and only 1 the highest", () => {
  expect([0, 0.01, 0.24, 0.25, 0.5, 0.75, 0.99, 1].map(level)).toEqual([0, 1, 1, 2, 3, 4, 4, 5]);
});

const VALUES = [
  [1, 1],
  [0, 1],
  [null, 0.2],
];

it("orders the hardest first", () => {
  expect(ordered(VALUES, "hardest")).toEqual([2, 1, 0]);
});

it("orders those first on which runs differ most", () => {
  expect(ordered(VALUES, "contested")).toEqual([1, 0, 2]);
});

it("leaves the order of the dataset", () => {
  expect(ordered(VALUES, "dataset")).toEqual([0, 1, 2]);
});
