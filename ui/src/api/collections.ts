import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "./client";
import type {
  Collection,
  CollectionCreate,
  CollectionSearch,
  CollectionSearched,
  Collections,
  Documents,
  DocumentText,
  Health,
} from "./types";

export const isBusy = ({ status }: Pick<Collection, "status">): boolean =>
  status === "pending" || status === "indexing";

export function useCollections() {
  return useQuery({
    queryKey: ["collections", "list"],
    queryFn: ({ signal }) =>
      request<Collections>("/collections", { params: { per_page: 100 }, signal }),
    refetchInterval: (query) => (query.state.data?.collections.some(isBusy) ? 1000 : false),
  });
}

export function useCollection(id: string) {
  return useQuery({
    queryKey: ["collections", id],
    queryFn: ({ signal }) => request<Collection>(`/collections/${id}`, { signal }),
    refetchInterval: (query) => (query.state.data && isBusy(query.state.data) ? 1000 : false),
    enabled: id !== "",
  });
}

/** Makes a collection of what the server can reach, or of an archive sent along. */
export function useCreateCollection() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({
      archive,
      ...made
    }: Omit<CollectionCreate, "source"> & {
      source?: CollectionCreate["source"];
      archive?: File | undefined;
    }) => {
      if (!archive) return request<Collection>("/collections", { method: "POST", json: made });
      const form = new FormData();
      form.set("name", made.name);
      form.set("description", made.description ?? "");
      form.set("index", JSON.stringify(made.index));
      form.set("files", JSON.stringify(made.files));
      form.set("file", archive);
      return request<Collection>("/collections", { method: "POST", form });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["collections"] }),
  });
}

export function useDeleteCollection() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request<void>(`/collections/${id}`, { method: "DELETE" }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["collections", "list"] }),
  });
}

export function useDocuments(id: string, q: string, page = 1) {
  return useQuery({
    queryKey: ["collections", id, "documents", q, page],
    queryFn: ({ signal }) =>
      request<Documents>(`/collections/${id}/documents`, { params: { q, page }, signal }),
    placeholderData: (before) => before,
    enabled: id !== "",
  });
}

export function useContent(id: string, path: string | undefined) {
  return useQuery({
    queryKey: ["collections", id, "content", path],
    queryFn: ({ signal }) =>
      request<DocumentText>(`/collections/${id}/documents/content`, { params: { path }, signal }),
    enabled: path !== undefined && id !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useHealth(id: string) {
  return useQuery({
    queryKey: ["collections", id, "health"],
    queryFn: ({ signal }) => request<Health>(`/collections/${id}/health`, { signal }),
  });
}

export function useTry(id: string) {
  return useMutation({
    mutationFn: (json: CollectionSearch) =>
      request<CollectionSearched>(`/collections/${id}/search`, { method: "POST", json }),
  });
}

/** Indexes the documents as they are now, also after an indexing that has failed. */
export function useReindex(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request<Collection>(`/collections/${id}/reindex`, { method: "POST" }),
    onSettled: () => client.invalidateQueries({ queryKey: ["collections"] }),
  });
}
