import { useDeferredValue, useState } from "react";
import { useDocuments } from "@/api/collections";
import { useBind } from "@/api/datasets";
import type { Mapping, Unresolved } from "@/api/types";
import { Problem } from "@/parts/Notes";
import { plural } from "@/words/format";
import { reference } from "./reference";

const REASONS: Record<Unresolved["reason"], string> = {
  not_found: "no document fits",
  skipped: "the document exists but could not be read",
  ambiguous: "several documents fit",
  invalid_ref: "it names nothing",
};

type Props = { mapping: Mapping; unresolved: readonly Unresolved[] };

/** References without a document, each with a search for the one that it means. */
export function UnresolvedList({ mapping, unresolved }: Props) {
  const [open, setOpen] = useState("");
  return (
    <section aria-label="Unresolved references">
      <p>
        {plural(unresolved.length, "reference")} without a document. Choose the right one for each;
        what stays unresolved counts as missed.
      </p>
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
                <button
                  type="button"
                  className="button small"
                  aria-expanded={open === key}
                  onClick={() => setOpen(open === key ? "" : key)}
                >
                  Find it
                </button>
              </div>
              {open === key && <DocumentSearch mapping={mapping} of={one} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

type SearchProps = { mapping: Mapping; of: Unresolved };

function DocumentSearch({ mapping, of }: SearchProps) {
  const guess = reference(of.doc_ref).split(/[/\\]/).at(-1) ?? "";
  const [typed, setTyped] = useState(guess.replace(/\.[^.]*$/, ""));
  const documents = useDocuments(mapping.collection_id, useDeferredValue(typed));
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
      {documents.data?.total === 0 && <p className="soft">No path matches.</p>}
      <ul className="plain">
        {documents.data?.documents.slice(0, 8).map(({ path }) => (
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
