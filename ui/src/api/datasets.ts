import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "./client";
import type {
  Dataset,
  DatasetQueries,
  Datasets,
  FolderBind,
  Mapping,
  Mappings,
  Resolved,
} from "./types";

export function useDatasets(page = 1) {
  return useQuery({
    queryKey: ["datasets", "list", page],
    queryFn: ({ signal }) =>
      request<Datasets>("/benchmark-datasets", { params: { page, per_page: 100 }, signal }),
  });
}

export function useDataset(id: string) {
  return useQuery({
    queryKey: ["datasets", id],
    queryFn: ({ signal }) => request<Dataset>(`/benchmark-datasets/${id}`, { signal }),
    enabled: id !== "",
  });
}

export function useDatasetQueries(id: string, q: string, page: number) {
  return useQuery({
    queryKey: ["datasets", id, "queries", q, page],
    queryFn: ({ signal }) =>
      request<DatasetQueries>(`/benchmark-datasets/${id}/queries`, { params: { q, page }, signal }),
    placeholderData: (before) => before,
  });
}

export function useUpload() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({
      name,
      description,
      file,
    }: Record<"name" | "description", string> & { file: File }) => {
      const form = new FormData();
      form.set("name", name);
      form.set("description", description);
      form.set("file", file);
      return request<Dataset>("/benchmark-datasets", { method: "POST", form });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["datasets"] }),
  });
}

export function useDeleteDataset() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request<void>(`/benchmark-datasets/${id}`, { method: "DELETE" }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["datasets", "list"] }),
  });
}

export function useMappings(dataset: string) {
  return useQuery({
    queryKey: ["datasets", dataset, "mappings"],
    queryFn: ({ signal }) =>
      request<Mappings>(`/benchmark-datasets/${dataset}/mappings`, {
        params: { per_page: 100 },
        signal,
      }),
    enabled: dataset !== "",
  });
}

export function useCreateMapping(dataset: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (collection_id: string) =>
      request<Mapping>(`/benchmark-datasets/${dataset}/mappings`, {
        method: "POST",
        json: { collection_id },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["datasets", dataset, "mappings"] }),
  });
}

export function useResolve(mapping: Pick<Mapping, "id" | "dataset_id">) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      request<Resolved>(
        `/benchmark-datasets/${mapping.dataset_id}/mappings/${mapping.id}/resolve`,
        {
          method: "POST",
        },
      ),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: ["datasets", mapping.dataset_id, "mappings"] }),
  });
}

/** What the last resolving has left over. */
export function useUnresolved(mapping: Mapping) {
  return useQuery({
    queryKey: ["datasets", mapping.dataset_id, "mappings", mapping.id, mapping.resolved_at],
    queryFn: ({ signal }) =>
      request<Resolved>(
        `/benchmark-datasets/${mapping.dataset_id}/mappings/${mapping.id}/unresolved`,
        {
          signal,
        },
      ),
    enabled: mapping.mapping_status === "partial",
  });
}

export function useBind(mapping: Pick<Mapping, "id" | "dataset_id">) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (json: { query_id: string; doc_ref_hash: string; path: string }) =>
      request<Mapping>(
        `/benchmark-datasets/${mapping.dataset_id}/mappings/${mapping.id}/references`,
        { method: "POST", json },
      ),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: ["datasets", mapping.dataset_id, "mappings"] }),
  });
}

/** Gives a folder of references the name that it has in the collection. */
export function useBindFolder(mapping: Pick<Mapping, "id" | "dataset_id">) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (json: FolderBind) =>
      request<Resolved>(
        `/benchmark-datasets/${mapping.dataset_id}/mappings/${mapping.id}/folders`,
        { method: "POST", json },
      ),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: ["datasets", mapping.dataset_id, "mappings"] }),
  });
}
