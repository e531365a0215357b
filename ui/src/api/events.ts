import { createParser } from "eventsource-parser";
import { address } from "./client";

export type Connection = "connecting" | "live" | "lost";

type Listener<T> = {
  onEvent: (data: T) => void;
  onConnection: (state: Connection) => void;
};

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Follows a stream of events until the signal aborts. When the connection breaks it is opened anew
 * after a growing pause, from the last event that arrived. The browser's own EventSource gives up
 * for good when a proxy says that the server is just starting again.
 */
export async function follow<T>(
  path: string,
  { onEvent, onConnection }: Listener<T>,
  signal: AbortSignal,
): Promise<void> {
  let last: string | undefined;
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    onConnection("connecting");
    try {
      const answer = await fetch(address(path), {
        headers: {
          Accept: "text/event-stream",
          ...(last === undefined ? {} : { "Last-Event-ID": last }),
        },
        signal,
      });
      if (!answer.ok || !answer.body) throw new Error(`answer ${answer.status}`);
      onConnection("live");
      wait = FIRST_WAIT_MS;
      const parser = createParser({
        onEvent: ({ id, data }) => {
          last = id ?? last;
          onEvent((JSON.parse(data) as { data: T }).data);
        },
      });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        parser.feed(piece.value);
      }
    } catch {
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    onConnection("lost");
    await pause(wait, signal);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }
}
