import { useHistory, useJudge } from "@/api/judgments";
import type { JudgmentHistory } from "@/api/types";
import { type Column, DataTable } from "@/parts/DataTable";
import { Loaded, Problem } from "@/parts/Notes";
import { Writer } from "@/parts/Writer";
import { moment } from "@/words/format";

type Change = JudgmentHistory["changes"][number];

const shown = (grade: number | null): string => (grade === null ? "none" : String(grade));

const COLUMNS: readonly Column<Change>[] = [
  { id: "version", header: "Version", cell: (row) => row.version },
  {
    id: "place",
    header: "Document",
    cell: ({ path, start_line, end_line, query_id }) => (
      <>
        {path}
        {start_line !== null && `:${start_line}-${end_line}`}
        <small>query {query_id}</small>
      </>
    ),
  },
  {
    id: "grade",
    header: "Grade",
    cell: (row) => `${shown(row.before)} → ${shown(row.grade)}`,
  },
  { id: "reason", header: "Reason", cell: (row) => row.reason },
  { id: "who", header: "By", cell: (row) => row.owner_id },
  { id: "when", header: "When", numeric: true, cell: (row) => moment(row.created_at) },
];

/** Who gave which grade when; the last one can be taken back. */
export function HistoryTab({ id }: { id: string }) {
  const history = useHistory(id);
  const { undo } = useJudge(id);
  return (
    <Loaded of={history}>
      {(data) =>
        data.changes.length === 0 ? (
          <p className="soft">
            No grade was changed since the upload. Open a query of a benchmark to judge its hits.
          </p>
        ) : (
          <div className="stack">
            <Writer>
              <div className="row">
                <button
                  type="button"
                  className="button"
                  disabled={undo.isPending}
                  onClick={() => undo.mutate()}
                >
                  Undo the last
                </button>
              </div>
            </Writer>
            <Problem of={undo.error} />
            <DataTable
              label="Changes of judgments"
              columns={COLUMNS}
              rows={data.changes}
              rowKey={(row) => String(row.version)}
            />
          </div>
        )
      }
    </Loaded>
  );
}
