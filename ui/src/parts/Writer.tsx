import type { ReactNode } from "react";
import { useMayWrite } from "@/api/system";

type Props = { children: ReactNode; instead?: ReactNode };

/** What only a token that may change things is offered; the server refuses it to others. */
export function Writer({ children, instead = null }: Props) {
  return useMayWrite() ? children : instead;
}
