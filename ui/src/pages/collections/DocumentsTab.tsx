import { useContent, useDocuments } from "@/api/collections";
import type { Documents } from "@/api/types";
import { Code } from "@/parts/Code";
import { type Column, DataTable } from "@/parts/DataTable";
import { Dialog } from "@/parts/Dialog";
import { Loaded } from "@/parts/Notes";
import { Pager } from "@/parts/Pager";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS } from "@/words/definitions";
import { bytes, count } from "@/words/format";

type Document = Documents["documents"][number];

const COLUMNS: readonly Column<Document>[] = [
  { id: "path", header: "Document", cell: (row) => <span className="mono">{row.path}</span> },
  { id: "size", header: "Size", numeric: true, cell: (row) => bytes(row.size) },
  { id: "lines", header: "Lines", numeric: true, cell: (row) => count(row.lines) },
  {
    id: "chunks",
    header: "Chunks",
    means: DEFINITIONS.chunks,
    numeric: true,
    cell: (row) => count(row.chunks),
  },
];

/** The documents of a collection, found by a part of their path. */
export function DocumentsTab({ id }: { id: string }) {
  const [q, setQ] = useUrlState("find", "");
  const [page, setPage] = useUrlState("page", "1");
  const [open, setOpen] = useUrlState("document", "");
  const documents = useDocuments(id, q, Number(page));
  const content = useContent(id, open || undefined);
  return (
    <div className="stack">
      <label className="row soft">
        Path contains
        <input
          type="search"
          value={q}
          onChange={(event) => {
            setQ(event.target.value);
            setPage("1");
          }}
        />
      </label>
      <Loaded of={documents}>
        {(data) => (
          <>
            {data.total === 0 && <p className="soft">No path matches.</p>}
            <DataTable
              label="Documents"
              columns={COLUMNS}
              rows={data.documents}
              rowKey={({ path }) => path}
              onOpen={({ path }) => setOpen(path)}
            />
            <Pager of={data} noun="documents" onPage={(next) => setPage(String(next))} />
          </>
        )}
      </Loaded>
      {open && (
        <Dialog title={open} wide onClose={() => setOpen("")}>
          <Loaded of={content}>
            {({ text, language }) => (
              <Code label={`Text of ${open}`} text={text} language={language} />
            )}
          </Loaded>
        </Dialog>
      )}
    </div>
  );
}
