import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { vi } from "vitest";
import { App } from "@/app/App";
import { FakeServer } from "./server";

/** Opens the whole page at an address, in front of a server in memory. */
export function open(address: string, server = new FakeServer()) {
  vi.stubGlobal("fetch", server.fetch);
  window.history.replaceState(null, "", `/app${address}`);
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const page = render(
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>,
  );
  return { ...page, server, user: userEvent.setup({ delay: null }) };
}
