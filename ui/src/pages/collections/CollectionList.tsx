import { Link, useLocation } from "wouter";
import { useCollections } from "@/api/collections";
import type { Collection } from "@/api/types";
import { Status } from "@/parts/Badge";
import { type Column, DataTable } from "@/parts/DataTable";
import { Empty, Loaded } from "@/parts/Notes";
import { useOwnerColumn } from "@/parts/owner";
import { Page } from "@/parts/Page";
import { useUrlState } from "@/parts/urlState";
import { Writer } from "@/parts/Writer";
import { DEFINITIONS } from "@/words/definitions";
import { count, moment } from "@/words/format";
import { CreateDialog } from "./CreateDialog";

const COLUMNS: readonly Column<Collection>[] = [
  {
    id: "name",
    header: "Collection",
    sort: ({ name }) => name.toLowerCase(),
    cell: ({ id, name, description, error_message }) => (
      <>
        <Link href={`/collections/${id}`}>{name}</Link>
        {description && <small>{description}</small>}
        {error_message && <small className="loss">{error_message}</small>}
      </>
    ),
  },
  {
    id: "status",
    header: "Status",
    sort: (row) => row.status,
    cell: (row) => <Status of={row.status} />,
  },
  { id: "dense", header: "Dense index", cell: (row) => <Status of={row.dense.state} /> },
  { id: "sparse", header: "Sparse index", cell: (row) => <Status of={row.sparse.state} /> },
  {
    id: "documents",
    header: "Documents",
    numeric: true,
    sort: (row) => row.document_count,
    cell: (row) => count(row.document_count),
  },
  {
    id: "chunks",
    header: "Chunks",
    means: DEFINITIONS.chunks,
    numeric: true,
    sort: (row) => row.chunk_count,
    cell: (row) => count(row.chunk_count),
  },
  {
    id: "created",
    header: "Created",
    numeric: true,
    sort: (row) => row.created_at,
    cell: (row) => moment(row.created_at),
  },
];

/** All collections: the documents that are searched. */
export function CollectionList() {
  const [making, setMaking] = useUrlState("new", "");
  const [, navigate] = useLocation();
  const collections = useCollections();
  const columns = [...COLUMNS, ...useOwnerColumn()];
  const add = (
    <Writer>
      <button type="button" className="button main" onClick={() => setMaking("1")}>
        Add a collection
      </button>
    </Writer>
  );
  return (
    <Page
      title="Collections"
      below={<p className="soft">Documents or code, indexed so that they can be searched.</p>}
      actions={add}
    >
      <Loaded of={collections}>
        {(data) =>
          data.total === 0 ? (
            <Empty title="No collection yet">
              <Writer instead={<p>Your token can only read.</p>}>
                <p>
                  Add a folder, a Git repository at a revision, a BEIR corpus, or upload an archive.
                </p>
              </Writer>
              {add}
            </Empty>
          ) : (
            <DataTable
              label="Collections"
              columns={columns}
              rows={data.collections}
              rowKey={({ id }) => id}
              onOpen={({ id }) => navigate(`/collections/${id}`)}
            />
          )
        }
      </Loaded>
      {making && <CreateDialog onClose={() => setMaking("")} />}
    </Page>
  );
}
