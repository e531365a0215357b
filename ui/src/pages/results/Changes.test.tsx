import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Change } from "@/api/types";
import { runId, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

const change = (at: number, difference: number, more: Partial<Change> = {}): Change => ({
  run_id: runId(at),
  run_name: `run ${at}`,
  against: "previous",
  earlier_run_id: runId(at + 20),
  earlier_benchmark_id: uuid(9),
  earlier_benchmark_name: "Monday",
  ended_at: "2026-03-01T10:00:00Z",
  metric: "ndcg@10",
  queries: 40,
  difference,
  interval: null,
  p: 0.2,
  significant: false,
  unchanged: difference === 0,
  wins: 3,
  ties: 30,
  losses: 7,
  altered: [],
  text: `run ${at} changed by ${difference}.`,
  ...more,
});

function shown(changes: Change[]): FakeServer {
  const server = new FakeServer();
  server.answers.set(`GET /benchmarks/${uuid(4)}/changes`, () => ({ changes }));
  return server;
}

it("shows the surest and largest changes, each with a link to its queries", async () => {
  const changes = [
    change(1, 0.01),
    change(2, -0.3),
    change(3, 0.05, { significant: true, altered: ["documents"] }),
    change(4, 0),
    change(5, 0),
    ...[6, 7, 8].map((at) => change(at, at / 1000)),
  ];
  open(`/benchmarks/${uuid(4)}`, shown(changes));
  const list = await screen.findByRole("region", { name: "Changes since earlier benchmarks" });
  const lines = within(list)
    .getAllByRole("listitem")
    .map((line) => line.textContent);
  expect(lines).toEqual([
    "run 3 changed by 0.05. Changed: documents. Query by query",
    "run 2 changed by -0.3. Query by query",
    "run 1 changed by 0.01. Query by query",
    "run 8 changed by 0.008. Query by query",
    "run 7 changed by 0.007. Query by query",
    "1 further run changed too.",
    "2 runs have the score of an earlier benchmark on every query.",
  ]);
  const first = within(list).getAllByRole("link")[0];
  expect(first?.getAttribute("href")).toBe(
    `/app/compare?left=${runId(23)}&right=${runId(3)}&metric=ndcg%4010`,
  );
});

it("is not there without an earlier benchmark", async () => {
  open(`/benchmarks/${uuid(4)}`, shown([]));
  await screen.findByRole("region", { name: "Runs" });
  expect(screen.queryByRole("region", { name: "Changes since earlier benchmarks" })).toBeNull();
});
