import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { App } from "./app/App";
import { startTheme } from "./parts/theme";
import "./styles/all";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // What the server has refused, it will refuse again; a lost connection may come back.
      retry: (failures, problem) =>
        failures < 3 &&
        !(problem instanceof ApiError && problem.status >= 400 && problem.status < 500),
    },
  },
});

startTheme();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
