import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";

const RESULTS = `/benchmarks/${uuid(4)}`;

it("filters the queries by a count, and sorts the worst regression first", async () => {
  const { user } = open(`${RESULTS}/compare?tab=queries`);
  const table = await screen.findByRole("region", { name: "Queries" });
  const texts = () =>
    within(table)
      .getAllByRole("rowheader")
      .map((cell) => cell.textContent);
  expect(texts()).toEqual(["deploy with docker", "rotate the logs", "set up tokens"]);
  await user.click(screen.getByRole("button", { name: /improved/ }));
  expect(texts()).toEqual(["set up tokens"]);
  expect(window.location.search).toContain("show=improved");
});
