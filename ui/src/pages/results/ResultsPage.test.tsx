import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { CurrentRun } from "@/api/types";
import { benchmark, definitions, details, results, run, runId, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";
import { markOf } from "./metrics";

const RESULTS = `/benchmarks/${uuid(4)}`;

const NOT_MEASURED = {
  p50: null,
  p90: null,
  p95: null,
  p99: null,
  samples: 0,
  measured: false,
  disturbed: false,
};

describe("results", () => {
  it("marks the best where the difference is real, and sorts by any column", async () => {
    const { user } = open(RESULTS);
    const table = await screen.findByRole("region", { name: "Runs" });
    const names = () =>
      within(table)
        .getAllByRole("rowheader")
        .map((cell) => cell.textContent);
    await within(table).findByText("Better than");
    expect(names()).toEqual(["★ Bhybrid k=10", "Adense k=10"]);
    await user.click(within(table).getByRole("button", { name: "p50" }));
    await user.click(within(table).getByRole("button", { name: "p50" }));
    expect(window.location.search).toContain("sort=p50");
    expect(names()).toEqual(["Adense k=10", "★ Bhybrid k=10"]);
  });

  it("has no star where no run is better than another, nor letters for it", async () => {
    const server = new FakeServer();
    const tied = results();
    const all = tied.runs.map(({ id }) => id);
    server.results = { ...tied, summary: { ...tied.summary, best_runs: all } };
    const { standings } = details();
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () =>
      details({ standings: standings.map((one) => ({ ...one, better_than: "-" })) }),
    );
    open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(await within(table).findByText("Change of ndcg@10")).toBeTruthy();
    expect(within(table).queryByText("Better than")).toBeNull();
    expect(document.body.textContent).not.toContain("★");
    expect(document.querySelectorAll(".letter, .level.best")).toHaveLength(0);
  });

  it("has the means without missing targets beside the others, where there are such targets", async () => {
    const server = new FakeServer();
    const { unmount } = open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).queryByText("Without missing targets")).toBeNull();
    unmount();
    server.results = results({
      runs: [run(0, 0.6, { resolved_metrics_flat: { "ndcg@10": 0.654 } }), run(1, 0.7)],
    });
    open(RESULTS, server);
    const other = await screen.findByRole("region", { name: "Runs" });
    expect(within(other).getByText("Without missing targets")).toBeTruthy();
    expect(within(other).getByText("0.654")).toBeTruthy();
  });

  it("offers no choice of one measure", async () => {
    const server = new FakeServer();
    const only = { metrics_flat: { "ndcg@10": 0.6 } };
    server.results = results({ runs: [run(0, 0.6, only), run(1, 0.7, only)] });
    open(RESULTS, server);
    await screen.findByRole("img", { name: "Mean ndcg@10" });
    expect(screen.queryByRole("combobox", { name: "Measure" })).toBeNull();
  });

  it("tells its outcome in one line where the tab has another subject", async () => {
    const { user } = open(RESULTS);
    const advice = await screen.findByRole("list", { name: "Recommendations" });
    const [outcome = ""] = (results().summary.comparison ?? "").split(/(?<=\.) /);
    expect(screen.getByText(outcome)).toBeTruthy();
    await user.click(screen.getByRole("tab", { name: "Method" }));
    expect(advice.isConnected).toBe(false);
    expect(screen.getByText(outcome).className).toBe("verdict");
    expect(document.querySelectorAll(".verdict")).toHaveLength(1);
    expect(screen.getByRole("link", { name: "Compare runs" })).toBeTruthy();
  });

  it("gives each run one colour in all charts, whatever their order", async () => {
    const server = new FakeServer();
    const steps = (at: number) => ({ run_id: runId(at), milliseconds: [4, 8], shares: [0.5, 1] });
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () =>
      details({ latency_steps: [steps(0), steps(1)] }),
    );
    const curve = ({ id, name }: { id: string; name: string }, at: number) => ({
      run_id: id,
      name,
      measure: "ndcg",
      k: [1, 10],
      values: [0.5, 0.6 + at],
    });
    server.answers.set(`GET /benchmarks/${uuid(4)}/curves`, () => ({
      curves: results().runs.map(curve),
    }));
    const { user } = open(RESULTS, server);
    const keys = (title: string) => {
      const chart = screen.getByRole("img", { name: title }).closest("figure");
      const lines = [...(chart?.querySelectorAll(".keys li") ?? [])];
      return Object.fromEntries(
        lines.map((one) => [one.textContent, one.querySelector("path")?.getAttribute("class")]),
      );
    };
    await screen.findByRole("img", { name: "ndcg at different k" });
    const colours = keys("ndcg at different k");
    expect(colours).toEqual({ "hybrid k=10": "line c0", "dense k=10": "line c1" });
    await user.click(screen.getByRole("tab", { name: "Latency and cost" }));
    expect(keys("Share of queries answered within a time")).toEqual(colours);
  });

  it("tells how each run stands only where not all are completed", async () => {
    const server = new FakeServer();
    const { unmount } = open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).queryByText("Status")).toBeNull();
    unmount();
    server.results = results({ runs: [run(0, 0.6), run(1, 0.7, { status: "failed" })] });
    open(RESULTS, server);
    const other = await screen.findByRole("region", { name: "Runs" });
    expect(within(other).getByText("failed")).toBeTruthy();
  });

  it("marks latencies that other runs disturbed", async () => {
    const server = new FakeServer();
    const quiet = run(0, 0.6);
    const latency = { ...quiet.latency, p99: null, disturbed: true };
    server.results = results({ runs: [quiet, run(1, 0.7, { latency })] });
    open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).getAllByText("disturbed")).toHaveLength(1);
  });

  it("shows the numbers with their interval and definition", async () => {
    const { user } = open(RESULTS);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).getByText("[0.650, 0.750]")).toBeTruthy();
    await user.hover(await within(table).findByText("ndcg@10", { selector: ".term" }));
    expect((await screen.findByRole("tooltip")).textContent).toContain(
      "Only the first 10 hits count",
    );
  });
});

describe("the changes", () => {
  it("name their measure, and the baseline is not taken for a run without a score", async () => {
    const server = new FakeServer();
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () =>
      details({
        baseline: runId(1),
        standings: [
          { run_id: runId(1), letter: "b", better_than: "-", difference: null, p: null },
          { run_id: runId(0), letter: "a", better_than: "-", difference: null, p: null },
        ],
      }),
    );
    open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(await within(table).findByText("Change of ndcg@10")).toBeTruthy();
    const [first, second] = within(table).getAllByRole("row").slice(1);
    expect(first?.textContent).toContain("baseline");
    expect(second?.textContent).not.toContain("baseline");
    expect(["p50", "p90", "p99"].map((name) => within(table).getAllByText(name).length)).toEqual([
      1, 1, 1,
    ]);
  });
});

describe("names of measures", () => {
  it("are those that were typed", async () => {
    const server = new FakeServer();
    server.results = results({
      labels: { "ndcg@10": "nDCG@10", "recall@10": "recall@10", mrr: "RR" },
    });
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () => details());
    const { user } = open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(await within(table).findByText("Change of nDCG@10")).toBeTruthy();
    for (const name of ["nDCG@10", "recall@10", "RR"])
      expect(within(table).getByText(name)).toBeTruthy();
    expect(screen.getByText("Mean nDCG@10")).toBeTruthy();
    expect(screen.getByRole("img", { name: "nDCG@10 against latency" })).toBeTruthy();
    expect(within(table).queryAllByText(/\bmrr\b|ndcg@10/)).toEqual([]);
    await user.selectOptions(screen.getByRole("combobox", { name: "Measure" }), "RR");
    expect(await screen.findByText("Mean RR")).toBeTruthy();
  });
});

describe("by tag", () => {
  it("notes slices of few queries", async () => {
    const server = new FakeServer();
    const means = { [runId(0)]: 0.6, [runId(1)]: 0.7 };
    server.answers.set(`GET /benchmarks/${uuid(4)}/slices`, () => ({
      metric: "ndcg@10",
      by: "kind",
      tags: ["kind"],
      slices: [
        { value: "common", queries: 10, means, intervals: {} },
        { value: "rare", queries: 9, means, intervals: {} },
      ],
    }));
    open(`${RESULTS}?tab=slices`, server);
    const table = await screen.findByRole("region", { name: "Means by tag" });
    const names = within(table).getAllByRole("rowheader");
    expect(names.map((cell) => cell.textContent)).toEqual(["common", "rarefew queries"]);
    expect(names.map((cell) => cell.parentElement?.className)).toEqual(["", "few"]);
  });
});

describe("quality against latency", () => {
  it.each([
    [[runId(0), runId(1)], 1],
    [[runId(0)], 0],
  ])("explains the dashed line where there is one: %s", async (front, count) => {
    const server = new FakeServer();
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () =>
      details({ pareto: { "ndcg@10": front } }),
    );
    open(RESULTS, server);
    await screen.findByText("Rank of the first relevant hit");
    expect(screen.queryAllByText(/Dashed line/)).toHaveLength(count);
    const chart = screen.getByRole("img", { name: "ndcg@10 against latency" });
    expect(chart.querySelectorAll(".front")).toHaveLength(count);
  });
});

describe("doubtful labels of models", () => {
  const sentence = "† these numbers use labels by m1; agreement with people: kappa 0.41, below 0.6";

  it("mark every score, and one sentence explains the mark", async () => {
    const server = new FakeServer();
    server.results = results({ score_mark: "†" });
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () =>
      details({ warnings: [sentence] }),
    );
    open(RESULTS, server);
    expect(await screen.findByText(sentence)).toBeTruthy();
    expect(screen.getAllByText(sentence)).toHaveLength(1);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).getByText("ndcg@10†")).toBeTruthy();
    const cells = within(table).getAllByRole("cell");
    expect(cells.filter(({ textContent }) => textContent?.startsWith("0.700†"))).not.toEqual([]);
    expect(cells.filter(({ textContent }) => /^0\.\d{3}(?!†)/.test(textContent ?? ""))).toEqual([]);
    expect(screen.getByText("Mean ndcg@10†")).toBeTruthy();
  });

  it("leave sizes of what was returned unmarked", () => {
    const doubtful = results({ score_mark: "†" });
    const names = ["ndcg@10", "lines@10", "Tokens@5", "token-recall@500", "tokens-to-hit"];
    expect(names.map((name) => markOf(doubtful, name))).toEqual(["†", "", "", "†", "†"]);
  });

  it("leave no mark where people agree", async () => {
    open(RESULTS, new FakeServer());
    await screen.findByText("Mean ndcg@10");
    expect(screen.queryByText(/†/)).toBeNull();
  });
});

describe("the outcome", () => {
  it("is one bold sentence with its numbers below, warnings first", async () => {
    const server = new FakeServer();
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () =>
      details({ warnings: ["dense k=10: no hit is in the gold set"] }),
    );
    open(RESULTS, server);
    const bold = await screen.findByText(/^hybrid k=10 is better/, {
      selector: "strong",
    });
    const warning = await screen.findByText("dense k=10: no hit is in the gold set");
    expect(warning.compareDocumentPosition(bold)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
    expect(bold.textContent).toBe("hybrid k=10 is better than dense k=10: ndcg@10 +0.100.");
    expect(screen.getByText("3 queries can detect 0.3.")).toBeTruthy();
    expect(screen.getAllByText(/better than dense k=10/)).toHaveLength(1);
    expect(screen.getByText(/^Queries of category deploy are hardest/)).toBeTruthy();
    expect(screen.getByRole("list", { name: "Recommendations" }).textContent).toContain(
      "Best quality",
    );
  });
});

describe("what only the service knows", () => {
  it("shows a metric and a loss reason that this page has never heard of", async () => {
    const server = new FakeServer();
    const metrics_flat = { "ndcg@10": 0.6, "sparkle@7": 0.3 };
    const fates = { found: 5, eaten: 4 };
    server.results = results({
      runs: [run(0, 0.6, { metrics_flat, fates })],
      loss_reasons: [
        { name: "found", label: "found", definition: "in the first 10 hits", shade: "h5" },
        {
          name: "eaten",
          label: "eaten by a bear",
          definition: "a bear was faster",
          shade: "f4",
        },
      ],
    });
    server.definitions = {
      ...definitions(),
      metrics: [
        ...definitions().metrics,
        {
          name: "sparkle",
          aliases: [],
          definition: "How much the hits sparkle.",
          formula: "sparks / hits",
          higher_is_better: false,
        },
      ],
    };
    const { user } = open(`${RESULTS}?k=all`, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    await user.hover(await within(table).findByText("sparkle@7", { selector: ".term" }));
    expect((await screen.findByRole("tooltip")).textContent).toBe(
      "How much the hits sparkle. Only the first 7 hits count. Lower is better.",
    );
    expect(screen.getByText("eaten by a bear").textContent).toContain("a bear was faster");
    await user.click(screen.getByRole("tab", { name: "Method" }));
    expect(await screen.findByText("sparks / hits")).toBeTruthy();
  });
});

describe("the section of an extension", () => {
  it("has a tab of its own, with its tables and charts", async () => {
    const server = new FakeServer();
    const table = {
      title: "",
      columns: [
        { title: "run", numeric: false },
        { title: "words", numeric: true },
      ],
      rows: [
        [
          { text: "dense", value: "dense" },
          { text: "2.5", value: 2.5 },
        ],
      ],
      notes: ["counted by blanks"],
    };
    const bars = [{ name: "sparse", value: 4, low: 3, high: 5 }];
    const chart = { title: "Words per hit", what: "words", bars, notes: [] };
    server.answers.set(`GET /benchmarks/${uuid(4)}/details`, () =>
      details({ sections: [{ title: "Long hits", tables: [table], charts: [chart] }] }),
    );
    const { user } = open(RESULTS, server);
    await user.click(await screen.findByRole("tab", { name: "Long hits" }));
    const shown = await screen.findByRole("region", { name: "Long hits" });
    expect(within(shown).getByText("2.5")).toBeTruthy();
    expect(screen.getByText("counted by blanks")).toBeTruthy();
    expect(screen.getByRole("img", { name: "Words per hit" }).textContent).toContain("sparse");
  });
});

describe("loss reasons", () => {
  it("are counted for every run, in the order of the service", async () => {
    const server = new FakeServer();
    const fates = { "not returned": 2, found: 5, fusion: 1 };
    server.results = results({
      runs: [run(0, 0.6, { fates }), run(1, 0.7, { fates: {} })],
      loss_reasons: ["found", "fusion", "not returned"].map((name) => ({
        name,
        label: name === "not returned" ? "not retrieved" : name,
        definition: "",
        shade: "f2",
      })),
    });
    const { user } = open(RESULTS, server);
    await screen.findByRole("img", { name: "Why targets were lost" });
    const [figure] = screen
      .getAllByRole("figure")
      .filter((one) => one.textContent?.includes("Why targets were lost"));
    if (!figure) throw new Error("there is no such figure");
    await user.click(within(figure).getByText("Show as a table"));
    const cells = (await within(figure).findAllByRole("row")).map((row) =>
      [...row.children].map((cell) => cell.textContent),
    );
    expect(cells).toEqual([
      ["Run", "found", "fusion", "not retrieved"],
      ["dense k=10", "5", "1", "2"],
    ]);
  });
});

describe("a running benchmark", () => {
  const current = {
    run_id: runId(0),
    run_order: 1,
    config: run(0, 0.6).config,
    config_summary: "dense k=10",
    total_queries: 20,
    completed_queries: 0,
  };

  it("says for whom it waits, as far as that is known", async () => {
    const server = new FakeServer();
    server.benchmarks = [benchmark({ status: "running", completed_runs: 2 })];
    open(RESULTS, server);
    await screen.findByText("live");
    const waiting = (waiting_for: CurrentRun["waiting_for"]) =>
      server.emit({
        status: "running",
        total_runs: 2,
        completed_runs: 2,
        failed_runs: 0,
        stage: "waiting",
        current_run: { ...current, stage: "waiting", waiting_for },
      });
    waiting([]);
    await screen.findByText(/another karat run is using this machine/);
    const since = new Date(2026, 10, 16, 14, 3).toISOString();
    waiting([{ pid: 1798, command: "compare", since }]);
    await screen.findByText(
      /^Waiting to measure latency: another karat run \(pid 1798: compare, since 14:03\) is using this machine\. The scores below are complete\.$/,
    );
  });

  it("shows scores while latency is not measured yet", async () => {
    const server = new FakeServer();
    server.benchmarks = [benchmark({ status: "running", completed_runs: 2 })];
    const pending = { timing_status: "pending", latency: NOT_MEASURED } as const;
    server.results = results({
      status: "running",
      runs: [run(0, 0.6, pending), run(1, 0.7, pending)],
    });
    open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).getByText("[0.650, 0.750]")).toBeTruthy();
    expect(within(table).getAllByText("not measured yet").length).toBe(2);
    expect(within(table).queryByText("p50")).toBeNull();
    // The timing would be disturbed by charts that take long to compute.
    expect(server.asked.some((one) => one.includes("/curves"))).toBe(false);
    const before = server.asked.filter((one) => one.endsWith("/results")).length;
    await screen.findByText("live");
    server.results = results({ runs: [run(0, 0.6), run(1, 0.7, pending)] });
    server.emit({
      status: "running",
      total_runs: 2,
      completed_runs: 2,
      failed_runs: 0,
      stage: "timing",
      current_run: { ...current, stage: "timing", waiting_for: [] },
    });
    await screen.findByText("measuring latency, 0 of 20 queries");
    await within(table).findByText("4.00 ms");
    expect(server.asked.filter((one) => one.endsWith("/results")).length).toBe(before + 1);
  });

  it("says that latency is not measured where nobody wants it", async () => {
    const server = new FakeServer();
    const latency = NOT_MEASURED;
    server.results = results({ runs: [run(0, 0.6, { timing_status: "none", latency })] });
    open(RESULTS, server);
    const table = await screen.findByRole("region", { name: "Runs" });
    expect(within(table).getByText("not measured")).toBeTruthy();
  });

  it("shows progress live, survives a lost connection, and ends with results", async () => {
    const server = new FakeServer();
    server.benchmarks = [benchmark({ status: "running", completed_runs: 0 })];
    open(RESULTS, server);
    await screen.findByText("0 of 2 runs scored", { selector: "strong" });
    await screen.findByText("live");
    server.emit({
      status: "running",
      total_runs: 2,
      completed_runs: 1,
      failed_runs: 0,
      stage: "evaluating",
    });
    await screen.findByText("1 of 2 runs scored", { selector: "strong" });
    server.drop();
    await screen.findByText("connection lost, trying again");
    await screen.findByText("live");
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

describe("what it waits for", () => {
  it("is its place in the queue, not a run", async () => {
    const server = new FakeServer();
    const queued = { status: "queued", completed_runs: 0, queue_position: 3 } as const;
    server.benchmarks = [benchmark(queued)];
    server.results = results({ status: "running", runs: [] });
    open(RESULTS, server);
    await screen.findByText(/Queued: it starts when a worker is free; 2 jobs are ahead of it/);
    await screen.findByRole("heading", { name: "No run has scores yet" });
    expect(screen.queryByText("live")).toBeNull();
    expect(screen.getByRole("button", { name: "Cancel" })).toBeTruthy();
  });

  it("is its worker, while it stops", async () => {
    const server = new FakeServer();
    server.benchmarks = [benchmark({ status: "cancelled", is_stopping: true })];
    server.results = results({ status: "cancelled", runs: [] });
    open(RESULTS, server);
    const button = await screen.findByRole("button", { name: "Stopping…" });
    expect(button.hasAttribute("disabled")).toBe(true);
    await screen.findByText("It can be continued as soon as it has stopped.");
    expect(screen.queryByText(/Press Continue/)).toBeNull();
    server.benchmarks = [benchmark({ status: "cancelled" })];
    const again = await screen.findByRole("button", { name: "Continue" }, { timeout: 5000 });
    expect(again.hasAttribute("disabled")).toBe(false);
  });

  it("says why it has failed", async () => {
    const server = new FakeServer();
    const why = "none of the 27 targets is in the uploaded documents";
    server.benchmarks = [benchmark({ status: "failed", completed_runs: 0, error_message: why })];
    server.results = results({ status: "failed", runs: [] });
    open(RESULTS, server);
    expect((await screen.findByRole("alert")).textContent).toContain(why);
    await screen.findByText("Press Continue above to run what is missing.");
  });

  it("does not name a button that a reader lacks", async () => {
    const server = new FakeServer();
    server.me = { owner_id: "rob", scopes: ["read"], authenticated: true };
    server.benchmarks = [benchmark({ status: "failed", completed_runs: 0, error_message: "gone" })];
    server.results = results({ status: "failed", runs: [] });
    open(RESULTS, server);
    await screen.findByText(/one with the scope run can continue this benchmark/);
    expect(screen.queryByText(/Press Continue/)).toBeNull();
  });

  it("is over as soon as the first event says so", async () => {
    const server = new FakeServer();
    const queued = { status: "queued", completed_runs: 0, queue_position: 1 } as const;
    server.benchmarks = [benchmark(queued)];
    open(RESULTS, server);
    await screen.findByText(/Queued: it starts as soon as a worker is free/);
    server.benchmarks = [benchmark({ status: "running", completed_runs: 1 })];
    server.emit({
      status: "running",
      total_runs: 2,
      completed_runs: 1,
      failed_runs: 0,
      stage: "evaluating",
    });
    // Sooner than the next poll.
    await screen.findByText("1 of 2 runs scored", { selector: "strong" }, { timeout: 1500 });
  });
});
