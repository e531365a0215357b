import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { openFile } from "@/api/embedded";
import { readSearchFrom } from "@/parts/search";
import { startTheme } from "@/parts/theme";
import "@/styles/all";
import { FileApp } from "./FileApp";
import { hashSearch, startAt } from "./location";

// What is in the file never changes, and needs no network.
const client = new QueryClient({
  defaultOptions: {
    queries: { staleTime: Number.POSITIVE_INFINITY, retry: false, networkMode: "always" },
  },
});

const index = openFile();
startTheme();
startAt(`/benchmarks/${index.subject}`);
readSearchFrom(hashSearch);
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <FileApp index={index} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
