import { expect, it } from "vitest";
import { front } from "./pareto";

const point = (name: string, latency: number, value: number) => ({
  id: name,
  name,
  latency,
  value,
  best: false,
});

it("keeps those that no other beats in both, the fastest first", () => {
  const points = [
    point("slow", 9, 0.9),
    point("beaten", 8, 0.6),
    point("fast", 1, 0.5),
    point("middle", 4, 0.7),
  ];
  expect(front(points).map(({ name }) => name)).toEqual(["fast", "middle", "slow"]);
});

it("of equal times keeps the better", () => {
  expect(front([point("a", 1, 0.4), point("b", 1, 0.5)]).map(({ name }) => name)).toEqual(["b"]);
});
