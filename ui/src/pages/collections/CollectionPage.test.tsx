import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { collection, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer, Refusal } from "@/testing/server";

const HIT = {
  path: "setup.md",
  start_line: 2,
  end_line: 3,
  symbol: "",
  score: 1.5,
  text: "set up",
};

it("shows what a query finds at its lines, in colours, with the words of the query", async () => {
  const server = new FakeServer();
  server.answers.set(`POST /collections/${uuid(2)}/search`, () => ({
    query: "tokens",
    results: [{ mode: "sparse", hits: [HIT], search_time_ms: 1 }],
  }));
  const { user } = open(`/collections/${uuid(2)}`, server);
  await user.type(await screen.findByRole("searchbox", { name: "Query" }), "tokens{Enter}");
  const found = await screen.findByRole("region", { name: "sparse results" });
  await user.click(within(found).getByRole("button", { name: /setup\.md:2-3/ }));
  const text = await screen.findByRole("region", { name: "Text of setup.md:2-3" });
  const meant = [...text.querySelectorAll(".here")].map((line) => line.getAttribute("data-line"));
  expect(meant).toEqual(["2", "3"]);
  expect(text.querySelector("mark")?.textContent).toBe("tokens");
  await within(text).findByText("# Title", { selector: "span[class]" });
});

it("is cut as one says, and the server says what is wrong with that", async () => {
  const server = new FakeServer();
  const answers: unknown[] = [new Refusal(400, "no chunker named 'windw'"), collection()];
  server.answers.set("POST /collections", () => answers.shift());
  const { user } = open("/collections", server);
  await user.click(await screen.findByRole("button", { name: "Add a collection" }));
  const dialog = screen.getByRole("dialog");
  await user.type(within(dialog).getByRole("textbox", { name: "Name" }), "Handbook");
  const chunks = within(dialog).getByRole("combobox", { name: /Chunks/ });
  await user.type(chunks, "windw(size=9)");
  await user.click(within(dialog).getByRole("button", { name: "Add" }));
  await within(dialog).findByText(/no chunker named 'windw'/);
  await user.clear(chunks);
  await user.click(within(dialog).getByRole("button", { name: "Add" }));
  await screen.findByRole("heading", { level: 1, name: "Handbook" });
  expect(server.sent).toMatchObject([
    { index: { chunker: "windw(size=9)" } },
    { index: { chunker: "auto" } },
  ]);
});
