import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { benchmark, drilldown, runId, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

const RESULTS = `/benchmarks/${uuid(4)}`;

it("shows why a target was missed, and the text of a hit at its lines", async () => {
  const { user } = open(`${RESULTS}/queries/q1?left=${runId(0)}&right=${runId(1)}`);
  await screen.findByText("below the first 10");
  const [hit] = within(screen.getByRole("list", { name: "Hits of hybrid k=10" })).getAllByRole(
    "button",
  );
  if (hit) await user.click(hit);
  const text = await screen.findByRole("region", { name: "Text of docs/tokens.md" });
  const here = [...text.querySelectorAll(".here")].map((line) => line.textContent);
  expect(here).toEqual(["set up tokens", "here"]);
  // The grammars come later than the text.
  await waitFor(() => expect(text.querySelector(".hljs-section")?.textContent).toBe("# Title"));
  expect([...text.querySelectorAll("mark")].map((word) => word.textContent)).toEqual(["tokens"]);
});

it.each([
  ["error", "the query failed"],
  ["timeout", "the query timed out"],
] as const)("shows the text of an error in place of the hits: %s", async (status, words) => {
  const server = new FakeServer();
  const error = "mine: exit code 1: ValueError: index missing\n  Traceback <b>";
  const found = drilldown();
  const [first, ...others] = found.runs;
  if (!first) throw new Error("no run");
  const failed = { ...first, status, error, hits: [] };
  server.answers.set(`GET ${RESULTS}/queries/q1`, () => ({ ...found, runs: [failed, ...others] }));
  open(`${RESULTS}/queries/q1?left=${runId(0)}&right=${runId(1)}`, server);
  expect((await screen.findByText(/index missing/)).textContent).toBe(error);
  expect(screen.getByText(`dense k=10: ${words}.`)).toBeTruthy();
});

it("is judged by keys, against the version that is shown, and undone", async () => {
  const { user, server } = open(`${RESULTS}/queries/q1?right=${runId(1)}&hit=docs/a.md:2-3`);
  const grade = await screen.findByRole("button", { name: /highly relevant/ });
  await waitFor(() => expect(grade).toHaveProperty("disabled", false));
  await user.keyboard("3");
  await waitFor(() =>
    expect(server.judgments).toMatchObject([
      { query_id: "q1", path: "docs/a.md", grade: 3, version: 1 },
    ]),
  );
  await waitFor(() => expect(grade.getAttribute("aria-pressed")).toBe("true"));
  // Statistics are asked for after a pause only.
  expect(server.asked.filter((one) => one.includes("/queries/q1")).length).toBe(1);
  await waitFor(() => expect(grade).toHaveProperty("disabled", false));
  await user.keyboard("u");
  await waitFor(() => expect(server.judgments).toEqual([]));
});

it("takes hostile text for text", async () => {
  const server = new FakeServer();
  const attack = "<img src=x onerror=\"document.title='taken'\"></script>";
  server.benchmarks = [benchmark({ name: attack })];
  open("/benchmarks", server);
  await screen.findByRole("link", { name: attack });
  expect(document.querySelector("img[src=x]")).toBeNull();
});
