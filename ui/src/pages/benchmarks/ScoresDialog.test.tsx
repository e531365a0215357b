import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { open } from "@/testing/render";
import { FakeServer, Refusal } from "@/testing/server";

const PATH = "POST /api/extensions/scores/report";
const scores = () => new File(["system,query,score\na,q1,1\nb,q1,0\n"], "scores.csv");

it("says the outcome of a file of scores, and saves its report", async () => {
  const server = new FakeServer();
  const asked: string[] = [];
  server.answers.set(PATH, ({ search }) => {
    asked.push(search.toString());
    return search.get("format") === "json" ? { verdict: "a is better than b." } : "<p>report</p>";
  });
  const saved = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => {});
  URL.createObjectURL = vi.fn(() => "blob:report");
  URL.revokeObjectURL = vi.fn();
  const { user } = open("/benchmarks", server);
  await user.click(await screen.findByRole("button", { name: "Compare scores" }));
  await user.upload(await screen.findByLabelText("File"), scores());
  await user.type(screen.getByLabelText(/less is better/), "cost, latency");
  await user.click(screen.getByRole("button", { name: "Compare" }));
  await screen.findByText("a is better than b.");
  expect(asked).toEqual(["format=json&lower=cost%2Clatency", "format=html&lower=cost%2Clatency"]);
  await user.click(screen.getByRole("button", { name: "Save the report" }));
  expect(saved).toHaveBeenCalledOnce();
});

it("says why a file cannot be compared", async () => {
  const server = new FakeServer();
  server.answers.set(PATH, () => new Refusal(400, "scores.csv:2: score 'x' is not a number"));
  const { user } = open("/benchmarks", server);
  await user.click(await screen.findByRole("button", { name: "Compare scores" }));
  await user.upload(await screen.findByLabelText("File"), scores());
  await user.click(screen.getByRole("button", { name: "Compare" }));
  await screen.findByText("scores.csv:2: score 'x' is not a number");
  expect(screen.queryByRole("button", { name: "Save the report" })).toBeNull();
});
