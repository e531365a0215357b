import type { ReactNode } from "react";
import { useMayWrite } from "@/api/system";

/** What only a token that may change things is offered; the server refuses it to others. */
export function Writer({ children }: { children: ReactNode }) {
  return useMayWrite() ? children : null;
}
