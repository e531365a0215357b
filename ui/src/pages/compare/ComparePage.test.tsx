import { fireEvent, screen, within } from "@testing-library/react";
import type { UserEvent } from "@testing-library/user-event";
import { expect, it } from "vitest";
import { runId, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";

const RESULTS = `/benchmarks/${uuid(4)}`;

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

it("asks for what the open tab shows, and for nothing else", async () => {
  const { user, server } = open(`${RESULTS}/compare?tab=queries`);
  await screen.findByRole("region", { name: "Queries" });
  const asked = (part: string) => server.asked.filter((one) => one.includes(part)).length;
  expect([asked("/matrix"), asked("/comparison")]).toEqual([1, 0]);
  await user.click(screen.getByRole("tab", { name: "Summary" }));
  await screen.findByRole("region", { name: "Runs against the baseline" });
  expect([asked("/matrix"), asked("/comparison")]).toEqual([1, 1]);
});

it("leads from a count to the queries that it counts", async () => {
  const { user } = open(`${RESULTS}/compare`);
  await user.click(await screen.findByRole("button", { name: "1 regressed in hybrid k=10" }));
  const table = await screen.findByRole("region", { name: "Queries" });
  expect(within(table).getByRole("rowheader").textContent).toBe("deploy with docker");
});

it("shows the corrected p value, and the other one in a tip", async () => {
  const { user } = open(`${RESULTS}/compare`);
  const table = await screen.findByRole("region", { name: "Runs against the baseline" });
  expect(within(table).getByText("p corrected")).toBeTruthy();
  const row = within(table).getByText("hybrid k=10").closest("tr");
  const [p] = [...(row?.querySelectorAll("td .term") ?? [])];
  if (!p) throw new Error("there is no p value");
  expect(p.textContent).toBe("0.500");
  expect(row?.textContent).not.toContain("0.250");
  await user.hover(p);
  expect((await screen.findByRole("tooltip")).textContent).toBe("p uncorrected: 0.250");
});

const baseline = () => screen.findByRole<HTMLSelectElement>("combobox", { name: /Baseline/ });

it.each([
  [
    "chosen",
    async (user, token) => {
      expect(token.textContent).toContain("+0.100");
      await user.selectOptions(await baseline(), "hybrid k=10");
    },
  ],
  [
    "given the key b",
    async (user, token) => {
      token.focus();
      await user.keyboard("b");
      expect(document.activeElement).toBe(await baseline());
    },
  ],
  [
    "dragged there",
    async (_, token) => {
      const carried = new Map<string, string>();
      const dataTransfer = {
        setData: (kind: string, value: string) => carried.set(kind, value),
        getData: (kind: string) => carried.get(kind) ?? "",
        get types() {
          return [...carried.keys()];
        },
      };
      fireEvent.dragStart(token, { dataTransfer });
      const slot = await baseline();
      expect(fireEvent.dragOver(slot, { dataTransfer })).toBe(false);
      fireEvent.drop(slot, { dataTransfer });
    },
  ],
] satisfies [string, (user: UserEvent, token: HTMLElement) => Promise<void>][])(
  "a run becomes the baseline when it is %s",
  async (_, act) => {
    const { user } = open(`${RESULTS}/compare`);
    await act(user, await screen.findByRole("button", { name: /^hybrid k=10/ }));
    expect((await baseline()).value).toBe(runId(1));
    expect(window.location.search).toContain(`baseline=${runId(1)}`);
    const token = await screen.findByRole("button", { name: /^dense k=10/ });
    expect(token.textContent).toContain("−0.100");
  },
);
