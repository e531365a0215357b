import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request, send } from "./client";
import { session } from "./session";
import type { Engines, Jumps, Me } from "./types";

export function useMe() {
  return useQuery({
    queryKey: ["me"],
    queryFn: ({ signal }) => request<Me>("/me", { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Whether the token in use may change and run things; one that is not known yet may. */
export const useMayWrite = (): boolean => useMe().data?.scopes.includes("run") ?? true;

/** The searches that this service offers beside its own modes; they do not change while it runs. */
export function useEngines() {
  return useQuery({
    queryKey: ["engines"],
    queryFn: ({ signal }) => request<Engines>("/engines", { signal }),
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

/** Gives the server a token; it answers with a cookie that no script can read. */
export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: string) =>
      send("/session", { method: "POST", headers: { Authorization: `Bearer ${token}` } }),
    onSuccess: () => {
      session.opened();
      client.invalidateQueries();
    },
  });
}

/** Takes the cookie back, so that the next request asks for a token again. */
export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => send("/session", { method: "DELETE" }),
    onSuccess: () => {
      // Nothing of the one who has left may stay on the page.
      client.clear();
      session.refused();
    },
  });
}
