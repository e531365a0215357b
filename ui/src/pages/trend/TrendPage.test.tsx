import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { TrendPoint } from "@/api/types";
import { runId, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

const point = (at: number, more: Partial<TrendPoint> = {}): TrendPoint => ({
  benchmark_id: uuid(at),
  benchmark_name: `Week ${at}`,
  run_id: runId(at),
  run_name: "hybrid k=10",
  created_at: `2026-03-0${at}T10:00:00Z`,
  commit: null,
  values: { "ndcg@10": at / 10 },
  intervals: {},
  annotations: [],
  ...more,
});

it("goes over benchmarks, or over the commits that were searched", async () => {
  const server = new FakeServer();
  const commit = {
    id: "c".repeat(40),
    subject: "new stemmer",
    committed_at: "2026-03-01T00:00:00Z",
  };
  server.answers.set("GET /trend", () => ({
    labels: { "ndcg@10": "nDCG@10" },
    points: [point(1), point(2, { commit })],
  }));
  const { user } = open(`/trend?dataset=${uuid(1)}`, server);
  const drawn = await screen.findByRole("img", { name: "nDCG@10 over benchmarks" });
  expect(drawn.querySelectorAll("circle")).toHaveLength(2);
  const table = screen.getByRole("region", { name: "Runs over time" });
  expect(within(table).getByText("nDCG@10")).toBeTruthy();
  expect(screen.getByRole("option", { name: "nDCG@10" })).toBeTruthy();
  expect(within(table).getByText("new stemmer", { exact: false }).textContent).toBe(
    "ccccccc new stemmer",
  );
  await user.selectOptions(screen.getByRole("combobox", { name: "Over" }), "commits");
  const again = await screen.findByRole("img", { name: "nDCG@10 over commits" });
  expect(again.querySelectorAll("circle")).toHaveLength(1);
  expect(within(again).getByText("ccccccc")).toBeTruthy();
});
