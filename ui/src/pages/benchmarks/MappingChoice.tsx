import { Link } from "wouter";
import { useCollections } from "@/api/collections";
import { useCreateMapping, useDatasets, useMappings } from "@/api/datasets";
import type { Mapping } from "@/api/types";
import { ResolveRow } from "@/pages/datasets/ResolveRow";
import { Empty, Problem } from "@/parts/Notes";

type Props = {
  dataset: string;
  collection: string;
  onDataset: (id: string) => void;
  onCollection: (id: string) => void;
};

/** The mapping of a dataset to a collection, where there is one. */
export function useChosenMapping(dataset: string, collection: string): Mapping | undefined {
  return useMappings(dataset).data?.mappings.find((one) => one.collection_id === collection);
}

/** The queries and the documents; they are mapped and resolved here where that is not yet done. */
export function MappingChoice({ dataset, collection, onDataset, onCollection }: Props) {
  const datasets = useDatasets();
  const collections = useCollections();
  const mapping = useChosenMapping(dataset, collection);
  const create = useCreateMapping(dataset);
  if (datasets.data?.total === 0 || collections.data?.total === 0) {
    return (
      <Empty title="A benchmark needs a dataset and a collection">
        <p>
          The dataset has the queries with their relevant documents; the collection has the
          documents to search.
        </p>
        <div className="row">
          {collections.data?.total === 0 && (
            <Link className="button main" href="/collections?new=1">
              Add a collection
            </Link>
          )}
          {datasets.data?.total === 0 && (
            <Link className="button main" href="/datasets?new=1">
              Upload a dataset
            </Link>
          )}
        </div>
      </Empty>
    );
  }
  return (
    <div className="stack">
      <div className="fields">
        <label className="field">
          Dataset
          <select value={dataset} onChange={(event) => onDataset(event.target.value)}>
            <option value="">Choose…</option>
            {datasets.data?.datasets.map(({ id, name, query_count }) => (
              <option key={id} value={id}>
                {name} ({query_count} queries)
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          Collection
          <select value={collection} onChange={(event) => onCollection(event.target.value)}>
            <option value="">Choose…</option>
            {collections.data?.collections.map(({ id, name, document_count }) => (
              <option key={id} value={id}>
                {name} ({document_count} documents)
              </option>
            ))}
          </select>
        </label>
      </div>
      {dataset && collection && !mapping && (
        <div className="row">
          <span>This dataset is not mapped to this collection yet.</span>
          <button
            type="button"
            className="button main"
            disabled={create.isPending}
            onClick={() => create.mutate(collection)}
          >
            Map it
          </button>
        </div>
      )}
      <Problem of={create.error} />
      {mapping && <ResolveRow mapping={mapping} />}
    </div>
  );
}
