import { expect, it, vi } from "vitest";
import { FakeServer, Refusal } from "@/testing/server";
import { address, request } from "./client";
import { token } from "./token";

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

it("asks for a token once the server wants one, and sends it", async () => {
  const server = new FakeServer();
  server.answers.set("GET /x", () => new Refusal(401, "A token is needed"));
  const fetched = vi.fn(server.fetch);
  vi.stubGlobal("fetch", fetched);
  const needed = vi.fn();
  const stop = token.listen(needed);
  await expect(request("/x")).rejects.toMatchObject({ status: 401 });
  expect(needed).toHaveBeenLastCalledWith(true);
  token.set("secret");
  expect(needed).toHaveBeenLastCalledWith(false);
  server.answers.set("GET /x", () => 1);
  await request("/x");
  expect(fetched.mock.lastCall?.[1]?.headers).toMatchObject({ Authorization: "Bearer secret" });
  stop();
  sessionStorage.clear();
});
