import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useLocation } from "wouter";
import { isBusy, useCollection, useDeleteCollection } from "@/api/collections";
import { useJobProgress } from "@/api/progress";
import type { Collection } from "@/api/types";
import { Status } from "@/parts/Badge";
import { Confirm } from "@/parts/Confirm";
import { Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Tabs } from "@/parts/Tabs";
import { useUrlState } from "@/parts/urlState";
import { count, moment } from "@/words/format";
import { DocumentsTab } from "./DocumentsTab";
import { HealthTab } from "./HealthTab";
import { TryTab } from "./TryTab";

const TABS = [
  { name: "try", label: "Try a query" },
  { name: "documents", label: "Documents" },
  { name: "health", label: "Health" },
] as const;

/** One collection: what state its indexes are in, what it holds, what it finds. */
export function CollectionPage({ id }: { id: string }) {
  const collection = useCollection(id);
  return <Loaded of={collection}>{(data) => <Found collection={data} />}</Loaded>;
}

function Found({ collection }: { collection: Collection }) {
  const { id, name, description, source, dense, sparse } = collection;
  const [tab, setTab] = useUrlState<(typeof TABS)[number]["name"]>("tab", "try");
  const [, navigate] = useLocation();
  const remove = useDeleteCollection();
  return (
    <Page
      title={name}
      crumbs={[{ label: "Collections", to: "/collections" }]}
      below={description && <p className="soft">{description}</p>}
      actions={
        <Confirm
          label="Delete"
          question={`Delete ${name} with its index? The documents themselves stay where they are.`}
          onConfirm={() => remove.mutateAsync(id).then(() => navigate("/collections"))}
        />
      }
    >
      {collection.error_message && (
        <div className="note bad" role="alert">
          {collection.error_message}
        </div>
      )}
      <div className="halves">
        <dl className="facts card">
          <dt>Status</dt>
          <dd>
            <Status of={collection.status} />
          </dd>
          <dt>Source</dt>
          <dd>
            {source.kind} {source.path && <code>{source.path}</code>} {source.revision}
          </dd>
          <dt>Documents</dt>
          <dd>{count(collection.document_count)}</dd>
          <dt>Chunks</dt>
          <dd>
            {count(collection.chunk_count)} by <code>{collection.chunker}</code>
          </dd>
        </dl>
        <dl className="facts card">
          <dt>Dense index</dt>
          <dd>
            <Status of={dense.state} />{" "}
            {dense.vectors !== null &&
              `${count(dense.vectors)} vectors of ${dense.dimension} numbers`}{" "}
            {dense.model}
          </dd>
          <dt>Sparse index</dt>
          <dd>
            <Status of={sparse.state} />
          </dd>
          <dt>Created</dt>
          <dd>{moment(collection.created_at)}</dd>
        </dl>
      </div>
      {isBusy(collection) ? (
        <Indexing collection={collection} />
      ) : (
        collection.status === "ready" && (
          <Tabs tabs={TABS} chosen={tab} onChoose={setTab}>
            {tab === "try" && <TryTab collection={collection} />}
            {tab === "documents" && <DocumentsTab id={id} />}
            {tab === "health" && <HealthTab id={id} />}
          </Tabs>
        )
      )}
    </Page>
  );
}

function Indexing({ collection }: { collection: Collection }) {
  const client = useQueryClient();
  const onEnd = useCallback(() => {
    client.invalidateQueries({ queryKey: ["collections"] });
  }, [client]);
  const progress = useJobProgress(collection.operation_uuid, onEnd);
  return (
    <section className="card" aria-label="Indexing">
      <p role="status">
        {progress
          ? `${progress.stage}: ${count(progress.done)} of ${count(progress.total)}`
          : "Waiting to be indexed"}
      </p>
      <progress
        aria-label="Indexing"
        max={Math.max(1, progress?.total ?? 1)}
        value={progress?.done ?? 0}
      />
    </section>
  );
}
