import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useLocation } from "wouter";
import { isBusy, useCollection, useDeleteCollection, useReindex } from "@/api/collections";
import { useJobProgress } from "@/api/progress";
import { useMayWrite } from "@/api/system";
import type { Collection, JobProgress } from "@/api/types";
import { Status } from "@/parts/Badge";
import { Confirm } from "@/parts/Confirm";
import { Loaded, Problem } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Tabs } from "@/parts/Tabs";
import { useUrlState } from "@/parts/urlState";
import { Writer } from "@/parts/Writer";
import { count, moment } from "@/words/format";
import { DocumentsTab } from "./DocumentsTab";
import { HealthTab } from "./HealthTab";
import { TryTab } from "./TryTab";

const TABS = [
  { name: "try", label: "Try a query" },
  { name: "documents", label: "Documents" },
  { name: "health", label: "Health" },
] as const;

const whatStays = (kind: Collection["source"]["kind"]): string =>
  kind === "upload"
    ? "Its uploaded documents are deleted too."
    : "The documents themselves stay where they are.";

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
  const again = useReindex(id);
  const mayWrite = useMayWrite();
  // A search is work for the server, which a token that can only read may not ask for.
  const tabs = TABS.filter((one) => mayWrite || one.name !== "try");
  const shown = tabs.some((one) => one.name === tab) ? tab : "documents";
  return (
    <Page
      title={name}
      crumbs={[{ label: "Collections", to: "/collections" }]}
      below={description && <p className="soft">{description}</p>}
      actions={
        <Writer>
          <button
            type="button"
            className="button"
            disabled={isBusy(collection) || again.isPending}
            onClick={() => again.mutate()}
          >
            Index again
          </button>
          <Confirm
            label="Delete"
            question={`Delete ${name} with its index? ${whatStays(source.kind)}`}
            onConfirm={() => remove.mutateAsync(id).then(() => navigate("/collections"))}
          />
        </Writer>
      }
    >
      <Problem of={again.error} />
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
          <Tabs tabs={tabs} chosen={shown} onChoose={setTab}>
            {shown === "try" && <TryTab collection={collection} />}
            {shown === "documents" && <DocumentsTab id={id} />}
            {shown === "health" && <HealthTab id={id} />}
          </Tabs>
        )
      )}
    </Page>
  );
}

/** What indexing does now; how many texts there are is known after reading. */
function indexing({ stage, done, total }: JobProgress): string {
  if (stage === "pending") return "Waiting to be indexed";
  if (stage === "reading") return "Reading the documents";
  return total > 0 ? `${stage}: ${count(done)} of ${count(total)} texts` : stage;
}

function Indexing({ collection }: { collection: Collection }) {
  const client = useQueryClient();
  const onEnd = useCallback(() => {
    client.invalidateQueries({ queryKey: ["collections"] });
  }, [client]);
  const progress = useJobProgress(collection.operation_uuid, onEnd);
  return (
    <section className="card" aria-label="Indexing">
      <p role="status">{progress ? indexing(progress) : "Waiting to be indexed"}</p>
      <progress
        aria-label="Indexing"
        {...(progress?.total ? { max: progress.total, value: progress.done } : {})}
      />
    </section>
  );
}
