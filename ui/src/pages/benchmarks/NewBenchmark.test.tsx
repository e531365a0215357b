import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

const NEW = `/benchmarks/new?dataset=${uuid(1)}&collection=${uuid(2)}`;

it("counts the runs exactly, warns above 25 and is refused above 50", async () => {
  const { user, server } = open(NEW);
  const runs = await screen.findByRole("region", { name: "Runs of this matrix" });
  expect(runs.textContent).toContain("2 runs of at most 50");
  await waitFor(() => expect(server.sent.at(-1)).toMatchObject({ mapping_id: uuid(3) }));
  const topK = screen.getByRole("textbox", { name: /top_k/ });
  await user.clear(topK);
  await user.type(topK, Array.from({ length: 14 }, (_, at) => at + 1).join(","));
  await screen.findByText("28 runs");
  await screen.findByText("More than 25 runs take long.");
  await user.type(topK, `,${Array.from({ length: 12 }, (_, at) => at + 20).join(",")}`);
  await screen.findByText("The matrix gives 52 runs; at most 50 are allowed");
  await user.type(screen.getByRole("textbox", { name: "Name" }), "Too many");
  expect(screen.getByRole("button", { name: "Create and start" })).toHaveProperty("disabled", true);
});

it("proposes a name of what is compared and asked", async () => {
  const { user, server } = open(NEW);
  const name = await screen.findByRole("textbox", { name: "Name" });
  await waitFor(() =>
    expect(name.getAttribute("placeholder")).toBe("dense, hybrid on Handbook questions"),
  );
  const make = screen.getByRole("button", { name: "Create only" });
  await waitFor(() => expect(make).toHaveProperty("disabled", false));
  await user.click(make);
  await waitFor(() =>
    expect(server.sent.at(-1)).toMatchObject({ name: "dense, hybrid on Handbook questions" }),
  );
});

it("asks searches of one's own beside the modes, or alone", async () => {
  const { user, server } = open(NEW);
  await user.click(await screen.findByRole("checkbox", { name: /our-search/ }));
  await screen.findByText("3 runs");
  for (const mode of [/^dense/, /^hybrid/]) {
    await user.click(screen.getByRole("checkbox", { name: mode }));
  }
  await screen.findByText("1 run");
  await user.type(screen.getByRole("textbox", { name: "Name" }), "Ours");
  const start = screen.getByRole("button", { name: "Create only" });
  await waitFor(() => expect(start).toHaveProperty("disabled", false));
  await user.click(start);
  await screen.findByRole("heading", { level: 1, name: "Ours" });
  expect(server.sent.at(-1)).toMatchObject({
    config_matrix: { search_modes: [], engines: ["our-search"] },
  });
});

it("offers models, rerankers and contexts that the service has", async () => {
  const server = new FakeServer();
  server.choices = { models: ["static", "gpu"], rerankers: ["maxsim", "co"], contexts: ["small"] };
  const { user } = open(NEW, server);
  const choose = async (group: string, name: string) =>
    user.click(within(await screen.findByRole("group", { name: group })).getByLabelText(name));
  await choose("Embedding models", "gpu");
  await choose("Rerankers", "co");
  await choose("Contexts", "small");
  await user.type(screen.getByRole("textbox", { name: "Name" }), "Remote");
  const make = screen.getByRole("button", { name: "Create only" });
  await waitFor(() => expect(make).toHaveProperty("disabled", false));
  await user.click(make);
  await screen.findByRole("heading", { level: 1, name: "Remote" });
  expect(server.sent.at(-1)).toMatchObject({
    config_matrix: { models: ["gpu"], rerankers: ["maxsim", "co"], context: [null, "small"] },
  });
});

it("shows no choice of models where the service has only one of each", async () => {
  open(NEW);
  await screen.findByRole("group", { name: "Reranker" });
  for (const name of ["Embedding models", "Rerankers", "Contexts"]) {
    expect(screen.queryByRole("group", { name })).toBeNull();
  }
});

it("measures latency of a sample, of all queries or not at all", async () => {
  const { user, server } = open(NEW);
  await user.type(await screen.findByRole("textbox", { name: "Name" }), "Quick");
  expect(screen.getByRole("radio", { name: "of 20 queries" })).toHaveProperty("checked", true);
  await user.click(screen.getByRole("radio", { name: "not measured" }));
  const make = screen.getByRole("button", { name: "Create only" });
  await waitFor(() => expect(make).toHaveProperty("disabled", false));
  await user.click(make);
  await screen.findByRole("heading", { level: 1, name: "Quick" });
  expect(server.sent.at(-1)).toMatchObject({ name: "Quick", timing: "none" });
});

it("is made and started with one press", async () => {
  const { user, server } = open(NEW);
  await user.type(await screen.findByRole("textbox", { name: "Name" }), "Mine");
  const start = screen.getByRole("button", { name: "Create and start" });
  await waitFor(() => expect(start).toHaveProperty("disabled", false));
  await user.click(start);
  await screen.findByRole("heading", { level: 1, name: "Mine" });
  expect(server.asked).toContain(`POST /api/v2/benchmarks/${uuid(40)}/start`);
});
