import { expect, it } from "vitest";
import { nameLines, nameRoom, nameRows } from "./names";

it("breaks long names between their parts and shortens none", () => {
  const name = "hybrid(model=granite, rrf_k=60) reranked @10";
  const lines = nameLines(name, 20);
  expect(lines.every((line) => line.length <= 20)).toBe(true);
  expect(lines.join("").replaceAll(" ", "")).toBe(name.replaceAll(" ", ""));
  expect(nameLines("bm25", 20)).toEqual(["bm25"]);
});

it("breaks a word that is longer than its room", () => {
  expect(nameLines("a".repeat(25), 10)).toEqual(["a".repeat(10), "a".repeat(10), "a".repeat(5)]);
});

it("has room for whole words in a narrow chart", () => {
  const { left, room } = nameRoom(["hybrid reranked", "implementations"], 313);
  expect(left).toBeLessThan(313 / 2);
  expect(nameLines("implementations of it", room)).toEqual(["implementations", "of it"]);
  expect(nameRoom(["a".repeat(200)], 313).left).toBeLessThan(313 / 2);
  expect(nameRoom(["bm25"], 520)).toEqual({ left: 160, room: 23 });
});

it("gives a name of several lines a higher row", () => {
  const { rows, bottom } = nameRows(["bm25", "one two three four"], 9);
  expect(rows[1]?.height).toBeGreaterThan(rows[0]?.height ?? 0);
  expect(bottom).toBe((rows[1]?.top ?? 0) + (rows[1]?.height ?? 0));
});
