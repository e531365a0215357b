import { expect, it, vi } from "vitest";
import { FakeServer } from "@/testing/server";
import { type Connection, follow } from "./events";

it("goes on from the last event after the connection was lost", async () => {
  const server = new FakeServer();
  vi.stubGlobal("fetch", server.fetch);
  const control = new AbortController();
  const events: unknown[] = [];
  const states: Connection[] = [];
  const done = follow(
    "/benchmarks/b/events",
    { onEvent: (event) => events.push(event), onConnection: (state) => states.push(state) },
    control.signal,
  );
  await vi.waitFor(() => expect(states.at(-1)).toBe("live"));
  server.emit({ stage: "one" });
  await vi.waitFor(() => expect(events).toHaveLength(1));
  server.drop();
  await vi.waitFor(() => expect(server.asked).toHaveLength(2), { timeout: 2000 });
  await vi.waitFor(() => expect(states.at(-1)).toBe("live"));
  server.emit({ stage: "two" });
  await vi.waitFor(() => expect(events).toEqual([{ stage: "one" }, { stage: "two" }]));
  expect(server.asked[1]).toBe("GET /api/v2/benchmarks/b/events after 1");
  expect(states).toEqual(["connecting", "live", "lost", "connecting", "live"]);
  control.abort();
  await done;
});
