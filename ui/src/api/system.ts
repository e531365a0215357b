import { useQuery } from "@tanstack/react-query";
import { request } from "./client";
import type { Jumps, Me } from "./types";

export function useMe() {
  return useQuery({
    queryKey: ["me"],
    queryFn: ({ signal }) => request<Me>("/me", { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useJumps(q: string) {
  return useQuery({
    queryKey: ["jumps", q],
    queryFn: ({ signal }) => request<Jumps>("/search", { params: { q }, signal }),
    enabled: q !== "",
    placeholderData: (before) => before,
  });
}
