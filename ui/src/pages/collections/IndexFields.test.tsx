import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { EmbeddingModel } from "@/api/types";
import { collection } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

const INSTALL = "pip install 'karatbench[dense]'";

async function dialogWith(installed: readonly string[]) {
  const server = new FakeServer();
  server.models = server.models.map(
    ({ name }): EmbeddingModel =>
      installed.includes(name)
        ? { name, installed: true, install: "" }
        : { name, installed: false, install: INSTALL },
  );
  server.answers.set("POST /collections", () => collection());
  const { user } = open("/collections", server);
  await user.click(await screen.findByRole("button", { name: "Add a collection" }));
  const dialog = within(screen.getByRole("dialog"));
  const add = async () => {
    await user.type(dialog.getByRole("textbox", { name: "Name" }), "Handbook");
    await user.click(dialog.getByRole("button", { name: "Add" }));
    await screen.findByRole("heading", { level: 1, name: "Handbook" });
  };
  return { server, dialog, add };
}

it("chooses the best model that is installed and offers no other", async () => {
  const { server, dialog, add } = await dialogWith(["static"]);
  const options = await dialog.findAllByRole("option", { name: /granite|minilm|static/ });
  expect(options.map((option) => (option as HTMLOptionElement).disabled)).toEqual([
    true,
    true,
    false,
  ]);
  dialog.getByText(/Not installed on the server: granite, minilm; install with pip install/);
  await add();
  expect(server.sent).toMatchObject([{ index: { dense: true, model: "static" } }]);
});

it("builds only the sparse index where no model is installed", async () => {
  const { server, dialog, add } = await dialogWith([]);
  const dense = await dialog.findByRole("checkbox", { name: /dense/ });
  expect((dense as HTMLInputElement).disabled).toBe(true);
  await add();
  expect(server.sent).toMatchObject([{ index: { dense: false, sparse: true } }]);
});

it("says nothing of installing where all are installed", async () => {
  const { server, dialog, add } = await dialogWith(["granite", "minilm", "static"]);
  await dialog.findByRole("option", { name: "granite" });
  expect(dialog.queryByText(/Not installed/)).toBeNull();
  await add();
  expect(server.sent).toMatchObject([{ index: { dense: true, model: "granite" } }]);
});
