import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

const PAGES = [
  ["/benchmarks", "Benchmarks"],
  [`/benchmarks/${uuid(4)}`, "Dense against hybrid"],
  ["/datasets", "Datasets"],
  [`/datasets/${uuid(1)}?tab=mappings`, "Handbook questions"],
  ["/collections", "Collections"],
  [`/collections/${uuid(2)}`, "Handbook"],
] as const;
const WRITING = /^(New|Add|Upload|Delete|Resolve|Map|Judge|Continue|Start|Cancel|Index again)/;

function reader(): FakeServer {
  const server = new FakeServer();
  server.me = { owner_id: "rob", scopes: ["read"], authenticated: true };
  return server;
}

it.each(PAGES)("offers a reader nothing to write on %s", async (path, title) => {
  open(path, reader());
  await screen.findByRole("heading", { level: 1, name: title });
  await screen.findByText("read only");
  await waitFor(() => {
    expect(screen.queryByRole("button", { name: WRITING })).toBeNull();
    expect(screen.queryByRole("link", { name: WRITING })).toBeNull();
  });
});

it.each(["datasets", "collections"])(
  "asks a reader for no upload where no %s are",
  async (name) => {
    const server = reader();
    server.collections = [];
    server.datasets = [];
    open(`/${name}`, server);
    await screen.findByText("Your token can only read.");
    expect(screen.queryByText(/upload/i)).toBeNull();
  },
);

it("says whose token is in use, whose each benchmark is, and lets one leave", async () => {
  const server = reader();
  server.me = { ...server.me, owner_id: "ada", scopes: ["read", "run"] };
  server.answers.set("DELETE /session", () => undefined);
  const { user } = open("/benchmarks", server);
  const bar = within(await screen.findByRole("banner"));
  await bar.findByText("ada");
  bar.getByText("run");
  const table = await screen.findByRole("region", { name: "Benchmarks" });
  within(table).getByRole("columnheader", { name: /Owner/ });
  within(table).getByText("local");
  await user.click(bar.getByRole("button", { name: "Sign out" }));
  await waitFor(() => expect(server.asked).toContain("DELETE /api/v2/session"));
  await screen.findByRole("dialog", { name: "This server needs a token" });
});

it("is not there where no token is needed", async () => {
  open("/benchmarks");
  await screen.findByRole("region", { name: "Benchmarks" });
  expect(screen.queryByRole("button", { name: "Sign out" })).toBeNull();
  expect(screen.queryByRole("columnheader", { name: /Owner/ })).toBeNull();
});
