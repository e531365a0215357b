import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { benchmark, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer, Refusal } from "@/testing/server";

const EXAMPLE = {
  collection_id: uuid(2),
  dataset_id: uuid(1),
  mapping_id: uuid(3),
  benchmark_id: uuid(5),
};

function empty(): FakeServer {
  const server = new FakeServer();
  Object.assign(server, { benchmarks: [], collections: [], datasets: [] });
  return server;
}

it("creates the example by one click, and waits until it is indexed", async () => {
  const server = empty();
  const statuses = ["indexing", "running"];
  server.answers.set("POST /examples", () => {
    const status = statuses.shift();
    if (status === "running") server.benchmarks.push(benchmark({ id: uuid(5), name: "Example" }));
    return { ...EXAMPLE, status };
  });
  const { user } = open("/benchmarks", server);
  await user.click(await screen.findByRole("button", { name: "Try the example" }));
  await screen.findByText("Indexing a small web shop…");
  await screen.findByRole("heading", { level: 1, name: "Example" }, { timeout: 5000 });
  expect(window.location.pathname).toBe(`/app/benchmarks/${uuid(5)}`);
  expect(statuses).toEqual([]);
});

it("says why the example cannot be created", async () => {
  const server = empty();
  // The benchmark of the example is in the list by then, in place of the first steps.
  server.answers.set("POST /examples", () => {
    server.benchmarks.push(benchmark({ id: uuid(5), name: "Example", status: "pending" }));
    return new Refusal(409, "collection 'Example' is failed");
  });
  const { user } = open("/benchmarks", server);
  await user.click(await screen.findByRole("button", { name: "Try the example" }));
  await screen.findByRole("link", { name: "Example" });
  await screen.findByText("collection 'Example' is failed");
});

it("leads to the next step of one's own as soon as there is something", async () => {
  open("/benchmarks", empty());
  expect((await screen.findByRole("button", { name: "Try the example" })).className).toBe(
    "button main",
  );
  expect(screen.getByRole("link", { name: "Add a collection" }).className).toBe("button");
});

it("puts the own step first when a collection exists", async () => {
  const server = new FakeServer();
  Object.assign(server, { benchmarks: [], datasets: [] });
  open("/benchmarks", server);
  await screen.findByText("done", { exact: false });
  expect(screen.getByRole("link", { name: "Upload a dataset" }).className).toBe("button main");
  expect(screen.getByRole("button", { name: "Try the example" }).className).toBe("button");
});
