import { useDeferredValue, useState } from "react";
import { useDocuments } from "@/api/collections";
import { useBind, useBindFolder } from "@/api/datasets";
import type { Mapping, MovedFolder, Unresolved } from "@/api/types";
import { Problem } from "@/parts/Notes";
import { Writer } from "@/parts/Writer";
import { plural } from "@/words/format";
import { reference } from "./reference";

const REASONS: Record<Unresolved["reason"], string> = {
  not_found: "no document fits",
  skipped: "the document exists but could not be read",
  ambiguous: "several documents fit",
  invalid_ref: "it names nothing",
};

type Props = {
  mapping: Mapping;
  unresolved: readonly Unresolved[];
  moved: MovedFolder | null;
};

/** References without a document, each with a search for the one that it means. */
export function UnresolvedList({ mapping, unresolved, moved }: Props) {
  const [open, setOpen] = useState("");
  const left = mapping.total_count - mapping.mapped_count;
  return (
    <section aria-label="Unresolved references">
      <p>
        {plural(left, "reference")} without a document. Choose the right one for each;{" "}
        {mapping.mapped_count > 0
          ? "what stays unresolved counts as missed."
          : "a benchmark needs at least one that is resolved."}
        {left > unresolved.length && ` The first ${unresolved.length} are listed.`}
      </p>
      {moved && (
        <Writer>
          <FolderOffer mapping={mapping} moved={moved} />
        </Writer>
      )}
      <ul className="hits">
        {unresolved.map((one) => {
          const key = `${one.query_id} ${one.doc_ref_hash}`;
          return (
            <li key={key}>
              <div className="row">
                <span className="anywhere grow">{reference(one.doc_ref)}</span>
                <small>
                  query {one.query_id}: {REASONS[one.reason]}
                </small>
                <Writer>
                  <button
                    type="button"
                    className="button small"
                    aria-expanded={open === key}
                    onClick={() => setOpen(open === key ? "" : key)}
                  >
                    Find it
                  </button>
                </Writer>
              </div>
              {open === key && <DocumentSearch mapping={mapping} of={one} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const folder = (path: string): string => path || "the top folder";

/** Resolves all references of one folder by one click. */
function FolderOffer({ mapping, moved }: { mapping: Mapping; moved: MovedFolder }) {
  const bind = useBindFolder(mapping);
  const { reference_folder, collection_folder, reference_count } = moved;
  return (
    <>
      <p className="row">
        <button
          type="button"
          className="button main small"
          disabled={bind.isPending}
          onClick={() => bind.mutate({ reference_folder, collection_folder })}
        >
          All of {folder(reference_folder)} is {folder(collection_folder)}
        </button>
        <span className="soft">resolves {plural(reference_count, "reference")}</span>
      </p>
      <Problem of={bind.error} />
    </>
  );
}

type SearchProps = { mapping: Mapping; of: Unresolved };

function DocumentSearch({ mapping, of }: SearchProps) {
  const guess = reference(of.doc_ref).split(/[/\\]/).at(-1) ?? "";
  const [typed, setTyped] = useState(guess.replace(/\.[^.]*$/, ""));
  const documents = useDocuments(mapping.collection_id, useDeferredValue(typed));
  const isNone = documents.data?.total === 0;
  const all = useDocuments(mapping.collection_id, "");
  const offered = isNone ? all.data : documents.data;
  const bind = useBind(mapping);
  const choose = (path: string) =>
    bind.mutate({ query_id: of.query_id, doc_ref_hash: of.doc_ref_hash, path });
  return (
    <div className="card stack">
      <label className="field">
        Document
        <input type="search" value={typed} onChange={(event) => setTyped(event.target.value)} />
      </label>
      <Problem of={bind.error} />
      {isNone && <p className="soft">No path matches. Documents of the collection:</p>}
      <ul className="plain">
        {offered?.documents.slice(0, 8).map(({ path }) => (
          <li key={path}>
            <button
              type="button"
              className="button plain small anywhere"
              onClick={() => choose(path)}
            >
              {path}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
