import { expect, it } from "vitest";
import { PLAIN, PRESETS, parse } from "./matrix";

it.each(PRESETS)("the preset $name is a matrix", ({ draft }) => {
  expect(parse(draft).problems).toBeNull();
});

it("reads lists of numbers, each once, and the word none", () => {
  const { matrix } = parse({ ...PLAIN, topK: "10, 5 10", thresholds: "none, 0.5" });
  expect(matrix?.top_k_values).toEqual([10, 5]);
  expect(matrix?.score_thresholds).toEqual([null, 0.5]);
});

it("reads values to tune, and the word default", () => {
  const { matrix } = parse({
    ...PLAIN,
    denseWeight: "default, 0.3",
    fusion: "min-max rrf",
    b: "0",
  });
  expect(matrix?.dense_weight).toEqual([null, 0.3]);
  expect(matrix?.fusion).toEqual(["rrf", "min-max"]);
  expect(matrix?.b).toEqual([0]);
  expect(matrix?.k1).toEqual([null]);
});

it("leaves the fusion to the service, which takes rrf where constants are named", () => {
  expect(parse(PLAIN).matrix).toMatchObject({ fusion: null, rrf_k_values: null });
  const named = parse({ ...PLAIN, rrfK: "40, 60" }).matrix;
  expect(named).toMatchObject({ fusion: null, rrf_k_values: [40, 60] });
});

it("scores at the primary k too", () => {
  expect(
    parse({ ...PLAIN, metricKs: "1, 20", primaryK: "5" }).matrix?.k_values_for_metrics,
  ).toEqual([1, 5, 20]);
});

it.each([
  [{ modes: [] }, "modes"],
  [{ reranker: [] }, "reranker"],
  [{ rerankers: [] }, "rerankers"],
  [{ contexts: [] }, "contexts"],
  [{ topK: "0" }, "topK"],
  [{ topK: "ten" }, "topK"],
  [{ rrfK: "" }, "rrfK"],
  [{ thresholds: "1.5" }, "thresholds"],
  [{ primaryK: "5, 10" }, "primaryK"],
  [{ metricKs: "1.5" }, "metricKs"],
  [{ fusion: "rff" }, "fusion"],
  [{ fusion: "" }, "fusion"],
  [{ denseWeight: "7" }, "denseWeight"],
  [{ k1: "-1" }, "k1"],
  [{ b: "1.1" }, "b"],
  [{ rerankDepth: "2.5" }, "rerankDepth"],
])("says that %o is wrong", (change, field) => {
  const { problems } = parse({ ...PLAIN, ...change });
  expect(Object.keys(problems ?? {})).toEqual([field]);
});
