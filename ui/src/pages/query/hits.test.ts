import { expect, it } from "vitest";
import { drilldown } from "@/testing/fixtures";
import { hitKey, joined, sameness } from "./hits";

it("joins the places that both rankings hold", () => {
  const [left, right] = drilldown().runs;
  expect(joined(left?.hits ?? [], right?.hits ?? [], hitKey)).toEqual([[0, 1]]);
});

it("joins two chunks of one document only where the truth is the document", () => {
  const first = [{ path: "a.md", start_line: 1, end_line: 9 }];
  const second = [{ path: "a.md", start_line: 20, end_line: 30 }];
  const { targets } = drilldown();
  const whole = targets.map((target) => ({ ...target, start_line: 0, end_line: 0 }));
  expect(joined(first, second, sameness(targets))).toEqual([]);
  expect(joined(first, second, sameness(whole))).toEqual([[0, 0]]);
});
