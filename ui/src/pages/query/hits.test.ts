import { expect, it } from "vitest";
import { drilldown } from "@/testing/fixtures";
import { joined } from "./hits";

it("joins the places that both rankings hold", () => {
  const [left, right] = drilldown().runs;
  expect(joined(left?.hits ?? [], right?.hits ?? [])).toEqual([[0, 1]]);
});
