import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { JudgmentEdit, Unjudged } from "@/api/types";
import { benchmark, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer, Refusal } from "@/testing/server";

const JUDGMENTS = (dataset: string) => `/benchmark-datasets/${dataset}/judgments`;
const hit = (at: number): Unjudged["hits"][number] => ({
  query_id: `q${at}`,
  query_text: `question ${at}`,
  path: `docs/${at}.md`,
  start_line: 1,
  end_line: 4,
  symbol: "",
  best_rank: 1,
  runs: ["r.1"],
});

let datasets = 100;

/** A service that judges as the real one does: by versions, and one judgment after another. */
function judging({ hits = 12, slow = 0 } = {}) {
  const server = new FakeServer();
  // A queue outlives its page, and so the test.
  const dataset = uuid(datasets++);
  server.benchmarks = [benchmark({ dataset_id: dataset })];
  const saved: JudgmentEdit[] = [];
  const state = { version: 1, open: Array.from({ length: hits }, (_, at) => hit(at)) };
  const pause = () => new Promise((resolve) => setTimeout(resolve, slow));
  server.answers.set(`GET /benchmark-datasets/${dataset}/unjudged`, () => ({
    version: state.version,
    hits: state.open,
    total: state.open.length,
    page: 1,
    per_page: 100,
  }));
  const put = async (edit: JudgmentEdit) => {
    await pause();
    if (edit.version !== state.version) return new Refusal(409, "the judgments have changed");
    saved.push(edit);
    state.version += 1;
    state.open = state.open.filter(({ query_id }) => query_id !== edit.query_id);
    return { version: state.version, change: edit };
  };
  server.answers.set(`PUT ${JUDGMENTS(dataset)}`, ({ body }) => put(body as JudgmentEdit));
  server.answers.set(`DELETE ${JUDGMENTS(dataset)}`, async () => {
    await pause();
    const last = saved.pop();
    if (!last) return new Refusal(409, "there is no judgment to take back");
    state.version += 1;
    state.open = [hit(Number(last.query_id.slice(1))), ...state.open];
    return { version: state.version, change: last };
  });
  const page = open(`/datasets/${dataset}/judge?benchmark=${uuid(4)}`, server);
  const given = () => saved.map(({ query_id, grade }) => `${query_id}=${grade}`);
  return { ...page, dataset, put, saved, state, given };
}

const shown = (at: number) =>
  screen.findByRole("heading", { level: 2, name: `question ${at}` }, { timeout: 1000 });

describe("judging", () => {
  it("goes on at once and loses nothing while a slow server saves", async () => {
    const { user, given } = judging({ slow: 80 });
    await shown(0);
    const typed = "3120321003";
    for (const [at, grade] of [...typed].entries()) {
      await user.keyboard(grade);
      // The next hit is there before the server has answered anything.
      expect(screen.getByRole("heading", { level: 2 }).textContent).toBe(`question ${at + 1}`);
    }
    expect(given().length).toBeLessThan(typed.length);
    expect(screen.getByText(/grades not saved yet/)).toBeTruthy();
    await screen.findByText("All grades are saved");
    expect(given()).toEqual([...typed].map((grade, at) => `q${at}=${grade}`));
    expect(screen.getByRole("heading", { level: 2 }).textContent).toBe("question 10");
  });

  it("comes back to the hit whose grade is taken back, also when that was saved", async () => {
    const { user, given, server } = judging({ hits: 3 });
    await shown(0);
    const asked = () => server.asked.filter((one) => one.includes("/unjudged")).length;
    const before = asked();
    await user.keyboard("0");
    await shown(1);
    // The list is asked for again, and the hit is no longer in it.
    await waitFor(() => expect(asked()).toBe(before + 1), { timeout: 8000 });
    await screen.findByText(/2 unjudged hits left/);
    await new Promise((done) => setTimeout(done, 50));
    await user.keyboard("u");
    await shown(0);
    await waitFor(() => expect(given()).toEqual([]));
  });

  it("tells a screen reader the next hit", async () => {
    const { user } = judging({ hits: 2 });
    await shown(0);
    // A region is read where its text changes, not where it is new with its text.
    const region = screen.getAllByRole("status").find((one) => one.className === "unseen");
    expect(region?.textContent).toBe("");
    await user.keyboard("1");
    await waitFor(() => expect(region?.textContent).toBe("Next hit: question 1, docs/1.md:1-4"));
    await user.keyboard("1");
    await waitFor(() => expect(region?.textContent).toBe("Every hit is judged"));
    expect(region?.isConnected).toBe(true);
  });

  it("takes the hits of a random sample where a reader wants one", async () => {
    const { user, server } = judging();
    await shown(0);
    const last = () => server.asked.filter((one) => one.includes("/unjudged")).at(-1);
    expect(last()).toContain("order=rank");
    const choice = screen.getByRole("combobox", { name: "Order" });
    await user.selectOptions(choice, "random sample for trusted corrections");
    await waitFor(() => expect(last()).toContain("order=sample"));
    expect(await screen.findByText(/^Whole queries in random order/)).toBeTruthy();
    expect(window.location.search).toContain("order=sample");
  });

  it("asks for the list once after a pause, and for no statistics", async () => {
    const { user, server } = judging();
    await shown(0);
    const asked = (part: string) => server.asked.filter((one) => one.includes(part)).length;
    const before = asked("/unjudged");
    await user.keyboard("012");
    await screen.findByText("All grades are saved");
    await waitFor(() => expect(asked("/unjudged")).toBe(before + 1));
    expect(asked("/results") + asked("/comparison") + asked("/curves")).toBe(0);
    expect(screen.getByText(/9 unjudged hits left/)).toBeTruthy();
  });

  it("tries again by itself, in order, when the server is away", async () => {
    const { user, server, dataset, put, given } = judging();
    await shown(0);
    const path = `PUT ${JUDGMENTS(dataset)}`;
    server.answers.set(path, () => new Refusal(503, "The database does not answer"));
    await user.keyboard("123");
    expect((await screen.findByRole("alert")).textContent).toContain("does not answer");
    expect(screen.getByText("3 grades not saved yet")).toBeTruthy();
    const leaving = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(leaving);
    expect(leaving.defaultPrevented).toBe(true);
    server.answers.set(path, ({ body }) => put(body as JudgmentEdit));
    await user.click(screen.getByRole("button", { name: "Try again now" }));
    await screen.findByText("All grades are saved");
    expect(given()).toEqual(["q0=1", "q1=2", "q2=3"]);
    const after = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(after);
    expect(after.defaultPrevented).toBe(false);
  });

  it("goes on after somebody else has graded another hit", async () => {
    const { user, server, dataset, state, given } = judging();
    await shown(0);
    state.version = 5;
    server.answers.set(`GET ${JUDGMENTS(dataset)}/history`, () => ({
      version: 5,
      changes: [{ ...hit(7), version: 5, grade: 2, before: null, owner_id: "bob" }],
      total: 1,
      page: 1,
      per_page: 50,
    }));
    await user.keyboard("12");
    await screen.findByText("All grades are saved");
    expect(given()).toEqual(["q0=1", "q1=2"]);
  });

  it("asks before it overwrites the grade of somebody else", async () => {
    const { user, server, dataset, state, given } = judging();
    await shown(0);
    state.version = 5;
    server.answers.set(`GET ${JUDGMENTS(dataset)}/history`, () => ({
      version: 5,
      changes: [{ ...hit(0), version: 5, grade: 3, before: null, owner_id: "bob" }],
      total: 1,
      page: 1,
      per_page: 50,
    }));
    await user.keyboard("12");
    expect((await screen.findByRole("alert")).textContent).toContain(
      "bob has given docs/0.md the grade 3 meanwhile; yours is 1.",
    );
    expect(given()).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Drop this grade" }));
    await screen.findByText("All grades are saved");
    expect(given()).toEqual(["q1=2"]);
  });

  it("takes a lost answer for what it is", async () => {
    const { user, server, dataset, put, state, given } = judging();
    await shown(0);
    let lost = true;
    server.answers.set(`PUT ${JUDGMENTS(dataset)}`, async ({ body }) => {
      const answer = await put(body as JudgmentEdit);
      if (!lost) return answer;
      lost = false;
      return new Refusal(502, "The proxy has lost the answer");
    });
    server.answers.set(`GET ${JUDGMENTS(dataset)}/history`, () => ({
      version: state.version,
      changes: [{ ...hit(0), version: 2, grade: 1, before: null, owner_id: "local" }],
      total: 1,
      page: 1,
      per_page: 50,
    }));
    await user.keyboard("12");
    await screen.findByText("All grades are saved");
    expect(given()).toEqual(["q0=1", "q1=2"]);
  });

  it("takes grades back, sent or not", async () => {
    const { user, given } = judging({ slow: 60 });
    await shown(0);
    await user.keyboard("12u");
    await shown(1);
    await screen.findByText("All grades are saved");
    expect(given()).toEqual(["q0=1"]);
    await user.keyboard("u");
    await shown(0);
    await waitFor(() => expect(given()).toEqual([]));
    await user.keyboard("3");
    await waitFor(() => expect(given()).toEqual(["q0=3"]));
  });

  it("keeps the hit on view when the list changes under it", async () => {
    const { user, state } = judging();
    await shown(0);
    // A grade may settle other hits, too: the server lists them no more.
    state.open = state.open.filter(({ query_id }) => query_id !== "q1" && query_id !== "q2");
    await user.keyboard("1");
    await screen.findByText(/9 unjudged hits left/);
    expect(screen.getByRole("heading", { level: 2 }).textContent).toBe("question 1");
    await user.keyboard("1");
    await shown(3);
  });
});
