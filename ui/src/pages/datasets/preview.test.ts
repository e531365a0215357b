import { expect, it } from "vitest";
import { preview, wrongLines } from "./preview";

it("tells the queries of a JSON dataset", () => {
  const text = JSON.stringify({
    queries: [{ query_key: "a", query_text: "how?", relevant_docs: ["x.md", "y.md"] }],
  });
  expect(preview(text).queries).toEqual([{ key: "a", text: "how?", judgments: 2 }]);
});

it("knows the queries of a gold set", () => {
  const text = JSON.stringify({
    test_cases: [{ id: "1", query: "fix", ground_truth_files: ["a.py"] }],
  });
  expect(preview(text).queries).toEqual([{ key: "1", text: "fix", judgments: 1 }]);
});

it.each(["query,result1\nhow,a.md", "{ broken", "{}", "[1, 2]"])(
  "tells no queries of %s",
  (text) => {
    expect(preview(text).queries).toBeNull();
  },
);

it("finds the lines that messages name", () => {
  expect([...wrongLines("set.json:12: no query\nset.json:40:3: bad grade\nno line here")]).toEqual([
    12, 40,
  ]);
});
