import { Link, useLocation } from "wouter";
import { useDatasets } from "@/api/datasets";
import type { Dataset } from "@/api/types";
import { type Column, DataTable } from "@/parts/DataTable";
import { Empty, Loaded } from "@/parts/Notes";
import { useOwnerColumn } from "@/parts/owner";
import { Page } from "@/parts/Page";
import { Pager } from "@/parts/Pager";
import { useUrlState } from "@/parts/urlState";
import { Writer } from "@/parts/Writer";
import { count, moment } from "@/words/format";
import { UploadDialog } from "./UploadDialog";

const COLUMNS: readonly Column<Dataset>[] = [
  {
    id: "name",
    header: "Dataset",
    sort: ({ name }) => name.toLowerCase(),
    cell: ({ id, name, description }) => (
      <>
        <Link href={`/datasets/${id}`}>{name}</Link>
        {description && <small>{description}</small>}
      </>
    ),
  },
  {
    id: "queries",
    header: "Queries",
    numeric: true,
    sort: (row) => row.query_count,
    cell: (row) => count(row.query_count),
  },
  {
    id: "version",
    header: "Judgments",
    means: "The version of the judgments; every grade given by hand makes a new one.",
    numeric: true,
    sort: (row) => row.version,
    cell: (row) => `version ${row.version}`,
  },
  {
    id: "created",
    header: "Created",
    numeric: true,
    sort: (row) => row.created_at,
    cell: (row) => moment(row.created_at),
  },
];

/** All datasets: queries, and what is relevant to them. */
export function DatasetList() {
  const [page, setPage] = useUrlState("page", "1");
  const [making, setMaking] = useUrlState("new", "");
  const [, navigate] = useLocation();
  const datasets = useDatasets(Number(page));
  const columns = [...COLUMNS, ...useOwnerColumn()];
  const upload = (
    <Writer>
      <button type="button" className="button main" onClick={() => setMaking("1")}>
        Upload a dataset
      </button>
    </Writer>
  );
  return (
    <Page
      title="Datasets"
      below={<p className="soft">Queries with their relevant documents.</p>}
      actions={upload}
    >
      <Loaded of={datasets}>
        {(data) =>
          data.total === 0 ? (
            <Empty title="No dataset yet">
              <Writer instead={<p>Your token can only read.</p>}>
                <p>
                  Upload a file of queries with the documents that answer them: JSON, CSV, YAML, or
                  a TREC or BEIR set. 50 to 200 queries are enough to tell configurations apart.
                </p>
              </Writer>
              {upload}
            </Empty>
          ) : (
            <div className="stack">
              <DataTable
                label="Datasets"
                columns={columns}
                rows={data.datasets}
                rowKey={({ id }) => id}
                onOpen={({ id }) => navigate(`/datasets/${id}`)}
              />
              <Pager of={data} noun="datasets" onPage={(next) => setPage(String(next))} />
            </div>
          )
        }
      </Loaded>
      {making && <UploadDialog onClose={() => setMaking("")} />}
    </Page>
  );
}
