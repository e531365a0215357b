import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { violations } from "@/testing/axe";
import { benchmark, dataset, runId, uuid } from "@/testing/fixtures";
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
    await screen.findByText("There is nothing here");
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
    await user.click(screen.getByRole("button", { name: "Go on" }));
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

describe("results", () => {
  it("marks the best where the difference is real, and sorts by any column", async () => {
    const { user } = open(RESULTS);
    const table = await screen.findByRole("region", { name: "Runs" });
    const names = () =>
      within(table)
        .getAllByRole("rowheader")
        .map((cell) => cell.textContent);
    expect(names()).toEqual(["★ hybrid k=10", "dense k=10"]);
    await user.click(within(table).getByRole("button", { name: "p50" }));
    await user.click(within(table).getByRole("button", { name: "p50" }));
    expect(window.location.search).toContain("sort=p50");
    expect(names()).toEqual(["dense k=10", "★ hybrid k=10"]);
  });

  it("shows the numbers with their interval and definition", async () => {
    const { user } = open(RESULTS);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).getByText("[0.650, 0.750]")).toBeTruthy();
    await user.hover(within(table).getByText("ndcg@10"));
    expect((await screen.findByRole("tooltip")).textContent).toContain(
      "Only the first 10 results count",
    );
  });
});

describe("a running benchmark", () => {
  it("shows progress live, survives a lost connection, and ends with results", async () => {
    const server = new FakeServer();
    server.benchmarks = [benchmark({ status: "running", completed_runs: 0 })];
    open(RESULTS, server);
    await screen.findByText("0 of 2 runs have ended", { selector: "strong" });
    await screen.findByText("live");
    server.emit({
      status: "running",
      total_runs: 2,
      completed_runs: 1,
      failed_runs: 0,
      stage: "evaluating",
    });
    await screen.findByText("1 of 2 runs have ended", { selector: "strong" });
    server.drop();
    await screen.findByText("connection lost, trying again");
    await screen.findByText("live", {}, { timeout: 3000 });
    server.benchmarks = [benchmark()];
    server.emit({
      status: "completed",
      total_runs: 2,
      completed_runs: 2,
      failed_runs: 0,
      stage: "",
    });
    await waitFor(() => expect(screen.queryByRole("region", { name: "Progress" })).toBeNull());
  });

  it("can be cancelled", async () => {
    const server = new FakeServer();
    server.benchmarks = [benchmark({ status: "running" })];
    const { user } = open(RESULTS, server);
    await user.click(await screen.findByRole("button", { name: "Cancel" }));
    await screen.findByText("cancelled");
    expect(server.asked).toContain(`POST /api/v2/benchmarks/${uuid(4)}/cancel`);
  });
});

describe("comparing", () => {
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
});

describe("one query", () => {
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
});

describe("a new benchmark", () => {
  const NEW = `/benchmarks/new?dataset=${uuid(1)}&collection=${uuid(2)}`;

  it("counts the runs exactly, warns above 25 and is refused above 50", async () => {
    const { user } = open(NEW);
    const runs = await screen.findByRole("region", { name: "Runs of this matrix" });
    expect(runs.textContent).toContain("2 runs of at most 50");
    const topK = screen.getByRole("textbox", { name: /top_k/ });
    await user.clear(topK);
    await user.type(topK, Array.from({ length: 14 }, (_, at) => at + 1).join(","));
    await screen.findByText("28 runs");
    await screen.findByText("More than 25 runs take long.");
    await user.type(topK, `,${Array.from({ length: 12 }, (_, at) => at + 20).join(",")}`);
    await screen.findByText("The matrix gives 52 runs; at most 50 are allowed");
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
});

describe("uploading", () => {
  it("shows the queries of a file, and the lines that the server objects to", async () => {
    const server = new FakeServer();
    server.answers.set(
      "POST /benchmark-datasets",
      () => new Refusal(422, "set.json:2: grade 7; expected 0 to 3"),
    );
    const { user } = open("/datasets?new=1", server);
    const text =
      '{"queries": [\n {"query_key": "a", "query_text": "how?", "relevant_docs": ["x.md"]}]}';
    await user.upload(await screen.findByLabelText(/choose one/), new File([text], "set.json"));
    await screen.findByText("1 query, 1 judgment");
    await user.click(screen.getByRole("button", { name: "Upload" }));
    await screen.findByText("set.json:2: grade 7; expected 0 to 3");
    expect(document.querySelector(".wrong")?.textContent).toContain("query_key");
  });
});
