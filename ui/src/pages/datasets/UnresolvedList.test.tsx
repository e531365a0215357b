import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { mapping, uuid } from "@/testing/fixtures";
import { open } from "@/testing/render";
import { FakeServer } from "@/testing/server";

it("resolves a folder of another name by one click", async () => {
  const server = new FakeServer();
  const partial = { mapping_status: "partial", mapped_count: 0, total_count: 27 } as const;
  server.mappings = [mapping(partial)];
  const address = `/benchmark-datasets/${uuid(1)}/mappings/${uuid(3)}`;
  const moved = { reference_folder: "docs/", collection_folder: "handbook/", reference_count: 26 };
  const lost = { query_id: "q1", doc_ref: { uri: "file:///docs/a.md" }, doc_ref_hash: "ab" };
  server.answers.set(`GET ${address}/unresolved`, () => ({
    ...partial,
    unresolved: [{ ...lost, reason: "not_found" }],
    moved_folder: moved,
  }));
  server.answers.set(`POST ${address}/folders`, ({ body }) => {
    server.mappings = [mapping({ mapped_count: 26, total_count: 27, mapping_status: "partial" })];
    return body;
  });
  const paths = ["handbook/a.md", "handbook/b.md"].map((path) => ({ path }));
  server.answers.set(`GET /collections/${uuid(2)}/documents`, ({ search }) => {
    const documents = paths.filter(({ path }) => path.includes(search.get("q") ?? ""));
    return { documents, total: documents.length, page: 1, per_page: 50 };
  });
  const { user } = open(`/datasets/${uuid(1)}?tab=mappings`, server);
  await screen.findByText(/27 references without a document.*The first 1 are listed/);
  screen.getByText("resolves 26 references");
  screen.getByText(/a benchmark needs at least one that is resolved/);
  await user.click(screen.getByRole("button", { name: "Find it" }));
  await user.type(screen.getByRole("searchbox", { name: "Document" }), "zz");
  // Where nothing matches there is still something to choose from.
  await screen.findByText(/No path matches/);
  await screen.findByRole("button", { name: "handbook/b.md" });
  await user.click(screen.getByRole("button", { name: "All of docs/ is handbook/" }));
  await screen.findByText(/26 of 27/);
  expect(server.sent).toContainEqual({ reference_folder: "docs/", collection_folder: "handbook/" });
});
