import { expect, it, vi } from "vitest";
import { FakeServer, Refusal } from "@/testing/server";
import { address, request } from "./client";
import { session } from "./session";

it("leaves empty parameters out of an address", () => {
  expect(address("/x", { a: "1 2", b: undefined, c: "" })).toBe("/api/v2/x?a=1+2");
});

it("throws what the server says, with its reference", async () => {
  const server = new FakeServer();
  server.answers.set("GET /x", () => new Refusal(409, "Mapping must be resolved"));
  vi.stubGlobal("fetch", server.fetch);
  await expect(request("/x")).rejects.toMatchObject({
    status: 409,
    detail: "Mapping must be resolved",
    reference: "ERR-1",
  });
});

it("says so when nobody answers", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("network")));
  await expect(request("/x")).rejects.toMatchObject({ status: 0 });
});

it("tells who listens that the server wants a token", async () => {
  const server = new FakeServer();
  server.answers.set("GET /x", () => new Refusal(401, "A token is needed"));
  vi.stubGlobal("fetch", server.fetch);
  const needed = vi.fn();
  const stop = session.listen(needed);
  await expect(request("/x")).rejects.toMatchObject({ status: 401 });
  expect(needed).toHaveBeenLastCalledWith(true);
  stop();
});
