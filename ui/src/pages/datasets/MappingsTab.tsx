import { useState } from "react";
import { Link } from "wouter";
import { useCollections } from "@/api/collections";
import { useCreateMapping, useMappings } from "@/api/datasets";
import { useMayWrite } from "@/api/system";
import type { Dataset } from "@/api/types";
import { Loaded, Problem } from "@/parts/Notes";
import { ResolveRow } from "./ResolveRow";

/** The collections that a dataset is mapped to, and how many of its references are known there. */
export function MappingsTab({ dataset }: { dataset: Dataset }) {
  const mappings = useMappings(dataset.id);
  const collections = useCollections();
  const create = useCreateMapping(dataset.id);
  const [chosen, setChosen] = useState("");
  const mayWrite = useMayWrite();
  const mapped = new Set(mappings.data?.mappings.map((one) => one.collection_id));
  const free = collections.data?.collections.filter(({ id }) => !mapped.has(id)) ?? [];
  const names = new Map(collections.data?.collections.map(({ id, name }) => [id, name]));
  return (
    <div className="stack">
      <Loaded of={mappings}>
        {(data) =>
          data.mappings.length === 0 ? (
            <p>
              Map the dataset to a collection: every reference is then looked up among its
              documents.
            </p>
          ) : (
            data.mappings.map((mapping) => (
              <section
                key={mapping.id}
                className="card stack"
                aria-label={names.get(mapping.collection_id)}
              >
                <div className="row">
                  <h2 className="minor">
                    <Link href={`/collections/${mapping.collection_id}`}>
                      {names.get(mapping.collection_id) ?? "Collection"}
                    </Link>
                  </h2>
                  {mayWrite && mapping.mapped_count > 0 && (
                    <Link
                      className="button small"
                      href={`/benchmarks/new?dataset=${dataset.id}&collection=${mapping.collection_id}`}
                    >
                      New benchmark here
                    </Link>
                  )}
                </div>
                <ResolveRow mapping={mapping} />
              </section>
            ))
          )
        }
      </Loaded>
      {!mayWrite ? null : free.length > 0 ? (
        <div className="row">
          <label className="row soft">
            Collection
            <select value={chosen} onChange={(event) => setChosen(event.target.value)}>
              <option value="">Choose…</option>
              {free.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            className="button main"
            disabled={!chosen || create.isPending}
            onClick={() => create.mutate(chosen, { onSuccess: () => setChosen("") })}
          >
            Map
          </button>
        </div>
      ) : (
        collections.data?.total === 0 && (
          <p>
            There is no collection yet. <Link href="/collections?new=1">Add one</Link>
          </p>
        )
      )}
      <Problem of={create.error} />
    </div>
  );
}
