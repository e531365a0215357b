import { useDatasetQueries } from "@/api/datasets";
import type { DatasetQuery } from "@/api/types";
import { Badge } from "@/parts/Badge";
import { type Column, DataTable } from "@/parts/DataTable";
import { Loaded } from "@/parts/Notes";
import { Pager } from "@/parts/Pager";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS } from "@/words/definitions";
import { reference } from "./reference";

const COLUMNS: readonly Column<DatasetQuery>[] = [
  {
    id: "text",
    header: "Query",
    cell: ({ query_key, query_text }) => (
      <>
        {query_text}
        <small>{query_key}</small>
      </>
    ),
  },
  {
    id: "relevant",
    header: "Relevant",
    means: DEFINITIONS.grade,
    cell: ({ relevant_docs }) => (
      <ul className="plain">
        {relevant_docs.map(({ doc_ref, relevance_grade }) => (
          <li key={JSON.stringify(doc_ref)} className="anywhere">
            {reference(doc_ref)} <small className="inline">grade {relevance_grade}</small>
          </li>
        ))}
      </ul>
    ),
  },
  {
    id: "tags",
    header: "Tags",
    cell: ({ tags }) => (
      <div className="chips">
        {Object.entries(tags).map(([name, value]) => (
          <Badge key={name}>
            {name}: {value}
          </Badge>
        ))}
      </div>
    ),
  },
];

/** The queries of a dataset, searched on the server, so that every one is found. */
export function QueriesTab({ id }: { id: string }) {
  const [q, setQ] = useUrlState("q", "");
  const [page, setPage] = useUrlState("page", "1");
  const queries = useDatasetQueries(id, q, Number(page));
  return (
    <div className="stack">
      <label className="row soft">
        Find
        <input
          type="search"
          value={q}
          onChange={(event) => {
            setQ(event.target.value);
            setPage("1");
          }}
        />
      </label>
      <Loaded of={queries}>
        {(data) => (
          <>
            {data.total === 0 && <p className="soft">No query matches.</p>}
            <DataTable
              label="Queries"
              columns={COLUMNS}
              rows={data.queries}
              rowKey={(row) => row.query_id}
            />
            <Pager of={data} noun="queries" onPage={(next) => setPage(String(next))} />
          </>
        )}
      </Loaded>
    </div>
  );
}
