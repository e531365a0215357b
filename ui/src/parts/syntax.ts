import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Piece } from "./grammars";

// Beyond this the colours would come later than the reader has read.
const LONGEST = 300_000;
const PLAIN = new Set(["", "text"]);

/** The coloured lines of a text once its grammar is there; before that, and in plain text, null. */
export function useSyntax(text: string, language: string): Piece[][] | null {
  // Grammars are as large as half of the page, so they are loaded with the first text in need of one.
  const { data: grammars } = useQuery({
    queryKey: ["grammars"],
    queryFn: () => import("./grammars"),
    enabled: !PLAIN.has(language) && text.length <= LONGEST,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(
    () => (text.length <= LONGEST && grammars?.pieces(text, language)) || null,
    [grammars, text, language],
  );
}
