import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { benchmark, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

it("lists what each benchmark was about, its best run and how long it took", async () => {
  const server = new FakeServer();
  const times = { started_at: "2026-03-01T10:00:00Z", completed_at: "2026-03-01T10:01:05Z" };
  server.benchmarks = [
    benchmark(times),
    benchmark({ id: uuid(7), name: "Later", best_run: null, completed_at: null }),
  ];
  open("/benchmarks", server);
  const table = await screen.findByRole("region", { name: "Benchmarks" });
  const [first, second] = within(table).getAllByRole("row").slice(1);
  expect(first?.textContent).toContain("0.700 ndcg@10hybrid k=10");
  expect(first?.textContent).toContain("Handbook questionson Handbook");
  expect(first?.textContent).toContain("took 1 min 5 s");
  expect(second?.textContent).not.toContain("took");
  expect(second?.textContent).not.toContain("ndcg@10");
});
