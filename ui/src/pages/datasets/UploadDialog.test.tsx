import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { open } from "@/testing/render";
import { FakeServer, Refusal } from "@/testing/server";

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

it("takes its name from the file, unless one was typed", async () => {
  const { user } = open("/datasets?new=1");
  const field = await screen.findByLabelText(/choose one/);
  const name = screen.getByRole("textbox", { name: "Name" }) as HTMLInputElement;
  await user.upload(field, new File(["{"], "broken.json"));
  await waitFor(() => expect(name.value).toBe("broken"));
  await user.upload(field, new File(["[]"], "semantik.json"));
  await waitFor(() => expect(name.value).toBe("semantik"));
  await user.clear(name);
  await user.type(name, "Mine");
  await user.upload(field, new File(["[]"], "other.json"));
  await screen.findByText(/other.json/);
  expect(name.value).toBe("Mine");
});
