import { expect, it } from "vitest";
import {
  bytes,
  change,
  difference,
  duration,
  interval,
  milliseconds,
  place,
  plural,
  probability,
  score,
} from "./format";

it("shows a missing number as a dash, never as 0", () => {
  expect([score(null), change(undefined), probability(null), milliseconds(null)]).toEqual([
    "–",
    "–",
    "–",
    "–",
  ]);
});

it("gives changes their sign, and enough digits that only 0 is shown as 0", () => {
  expect([change(0.1234), change(-0.1234), change(-0.00001), change(0), change(1e-12)]).toEqual([
    "+0.123",
    "−0.123",
    "−0.00001",
    "0.000",
    "0.000",
  ]);
});

it("shows a difference and its interval with the same digits", () => {
  expect(difference({ difference: 6.1e-5, low: -0.001, high: 0.002 })).toEqual([
    "+0.00006",
    "[−0.00100, +0.00200]",
  ]);
  expect(difference({ difference: 0.02, low: 0.0003, high: 0.04 })).toEqual([
    "+0.0200",
    "[+0.0003, +0.0400]",
  ]);
  expect(difference({ difference: 0, low: null, high: null })).toEqual(["0.000", ""]);
});

it("shows large numbers such as lines@10 with one digit", () => {
  expect([score(0.7), score(99.5), score(695), change(-120.26), interval([690.04, 700])]).toEqual([
    "0.700",
    "99.500",
    "695.0",
    "−120.3",
    "[690.0, 700.0]",
  ]);
});

it("bounds tiny probabilities", () => {
  expect([probability(0), probability(0.0009), probability(0.04)]).toEqual([
    "< 0.001",
    "< 0.001",
    "0.040",
  ]);
});

it("shows times with three digits", () => {
  expect([
    milliseconds(0.5),
    milliseconds(12.34),
    milliseconds(345.6),
    milliseconds(12_345),
  ]).toEqual(["0.500 ms", "12.3 ms", "346 ms", "12.3 s"]);
});

it("tells how long something took", () => {
  const after = (seconds: number) =>
    duration("2026-03-01T10:00:00Z", new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString());
  expect([0, 59, 60, 61, 3600 + 61].map(after)).toEqual([
    "0 s",
    "59 s",
    "1 min",
    "1 min 1 s",
    "1 h 1 min",
  ]);
});

it("names a place by its lines, a document without them", () => {
  expect(place({ path: "a.py", start_line: 3, end_line: 9 })).toBe("a.py:3-9");
  expect(place({ path: "a.py", start_line: 3, end_line: 3 })).toBe("a.py:3");
  expect(place({ path: "a.md", start_line: 0, end_line: 0 })).toBe("a.md");
});

it("counts in words and sizes", () => {
  expect([plural(1, "query", "queries"), plural(2, "query", "queries"), bytes(1536)]).toEqual([
    "1 query",
    "2 queries",
    "1.5 kB",
  ]);
});
