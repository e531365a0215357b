import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { violations } from "@/testing/axe";
import { dataset, runId, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer, Refusal } from "@/testing/server";

const RESULTS = `/benchmarks/${uuid(4)}`;

describe("every page", () => {
  it.each([
    ["/benchmarks", "Benchmarks"],
    ["/benchmarks/new", "New benchmark"],
    [RESULTS, "Dense against hybrid"],
    [`${RESULTS}?tab=heat`, "Dense against hybrid"],
    [`${RESULTS}/compare?tab=queries`, "Compare runs"],
    [`${RESULTS}/queries/q1`, "set up tokens"],
    ["/datasets", "Datasets"],
    [`/datasets/${uuid(1)}?tab=mappings`, "Handbook questions"],
    ["/collections", "Collections"],
    [`/collections/${uuid(2)}`, "Handbook"],
    ["/trend", "Trend"],
  ])("%s has its title and nothing for axe to find", async (address, title) => {
    const { container } = open(address);
    await screen.findByRole("heading", { level: 1, name: title });
    await waitFor(() => expect(screen.queryAllByText("Loading…")).toEqual([]));
    expect(await violations(container)).toEqual([]);
  });

  it("says so when there is nothing at an address", async () => {
    open("/nowhere");
    await screen.findByText("Page not found");
  });

  it("shows what the server says when it refuses", async () => {
    open(`/benchmarks/${uuid(99)}`);
    expect((await screen.findByRole("alert")).textContent).toContain("There is no such benchmark");
  });
});

describe("a server that others can reach", () => {
  it("asks for a token and goes on with it", async () => {
    const server = new FakeServer();
    const closed = () => new Refusal(401, "A token is needed: karat token create");
    server.answers.set("GET /benchmarks", closed);
    const { user } = open("/benchmarks", server);
    await user.type(await screen.findByLabelText("Token"), "karat_secret");
    server.answers.set("POST /session", () => undefined);
    server.answers.delete("GET /benchmarks");
    await user.click(screen.getByRole("button", { name: "Continue" }));
    await screen.findByRole("link", { name: "Dense against hybrid" });
    expect(screen.queryByLabelText("Token")).toBeNull();
  });
});

describe("the first visit", () => {
  it("names the first step that is not done", async () => {
    const server = new FakeServer();
    server.benchmarks = [];
    server.datasets = [];
    open("/benchmarks", server);
    const step = await screen.findByRole("link", { name: "Upload a dataset" });
    await waitFor(() => expect(step.className).toContain("main"));
  });
});

describe("keys", () => {
  it("Ctrl K jumps to what is typed", async () => {
    const { user } = open("/datasets");
    await screen.findByRole("link", { name: "Handbook questions" });
    await user.keyboard("{Control>}k{/Control}");
    await user.type(screen.getByRole("combobox"), "hybrid");
    await screen.findByRole("option", { name: /Dense against hybrid/ });
    await user.keyboard("{Enter}");
    await screen.findByRole("heading", { level: 1, name: "Dense against hybrid" });
  });

  it("Ctrl K jumps to a run of a benchmark", async () => {
    const server = new FakeServer();
    const found = { kind: "run", id: runId(1), title: "hybrid k=10 of Dense", detail: uuid(4) };
    server.answers.set("GET /search", () => ({ results: [found] }));
    server.answers.set(`GET /benchmarks/${uuid(4)}/runs/${runId(1)}/queries`, () => ({
      results: [],
      total: 0,
    }));
    const { user } = open("/datasets", server);
    await user.keyboard("{Control>}k{/Control}");
    await user.type(screen.getByRole("combobox"), "hybrid");
    await screen.findByRole("option", { name: /hybrid k=10 of Dense/ });
    await user.keyboard("{Enter}");
    await screen.findByRole("heading", { level: 1, name: "hybrid k=10" });
  });

  it("j and k walk the rows, Enter opens one", async () => {
    const server = new FakeServer();
    server.datasets = [dataset(), dataset({ id: uuid(8), name: "Another" })];
    const { user } = open("/datasets", server);
    await screen.findByRole("link", { name: "Another" });
    await user.keyboard("jjk");
    expect(document.activeElement?.querySelector("th")?.textContent).toBe("Handbook questions");
    await user.keyboard("j");
    await user.keyboard("{Enter}");
    await waitFor(() => expect(window.location.pathname).toBe(`/app/datasets/${uuid(8)}`));
  });
});
