import { describe, expect, it } from "vitest";
import { apart, linear, logarithmic, ticks } from "./scale";

describe("ticks", () => {
  it.each([
    [0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, 0.73, [0, 0.2, 0.4, 0.6, 0.8]],
    [-0.5, 0.5, [-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6]],
    [0.61, 0.62, [0.61, 0.612, 0.614, 0.616, 0.618, 0.62]],
  ])("from %s to %s are round and cover both", (low, high, expected) => {
    expect(ticks(low, high)).toEqual(expected);
  });

  it("marks times within the drawing only", () => {
    const scale = logarithmic(0.377, 0.85, 46, 504);
    expect(scale.ticks.length).toBeGreaterThan(0);
    expect(scale.ticks.every((one) => scale(one) >= 46 && scale(one) <= 504)).toBe(true);
  });

  it("of no span is the value alone", () => {
    expect(ticks(3, 3)).toEqual([3]);
  });
});

it("keeps values whose names have room beside each other", () => {
  expect(apart([1, 2, 3, 10, 11, 20], (value) => 10 * value, 50)).toEqual([1, 10, 20]);
});

describe("scales", () => {
  it("a linear one puts its first and last tick on the ends", () => {
    const x = linear(0, 0.95, 100, 200);
    expect([x(0), x(1), x(0.5)]).toEqual([100, 200, 150]);
  });

  it("a logarithmic one makes equal factors equal steps", () => {
    const x = logarithmic(1, 100, 0, 300);
    expect(x(10) - x(1)).toBeCloseTo(x(100) - x(10), 9);
    expect(x.ticks).toEqual([1, 2, 5, 10, 20, 50, 100]);
  });

  it("a logarithmic one over less than a power has round ticks", () => {
    expect(logarithmic(1.2, 1.8, 0, 300).ticks).toEqual([1.2, 1.4, 1.6, 1.8]);
  });
});
