import { type FormEvent, type ReactNode, useState } from "react";
import { useContent, useTry } from "@/api/collections";
import type { Collection, CollectionSearched, FoundHit, Mode } from "@/api/types";
import { Code } from "@/parts/Code";
import { Loaded, Problem } from "@/parts/Notes";
import { useUrlState } from "@/parts/urlState";
import { milliseconds, place } from "@/words/format";

/** One query in every mode that the collection has an index for, side by side. */
export function TryTab({ collection }: { collection: Collection }) {
  const [query, setQuery] = useUrlState("q", "");
  const search = useTry(collection.id);
  const dense = collection.dense.state === "ready";
  const sparse = collection.sparse.state === "ready";
  const modes: Mode[] = [
    ...(dense ? (["dense"] as const) : []),
    ...(sparse ? (["sparse"] as const) : []),
    ...(dense && sparse ? (["hybrid"] as const) : []),
  ];
  const ask = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const asked = String(form.get("query")).trim();
    setQuery(asked);
    search.mutate({ query: asked, modes, use_reranker: form.has("rerank"), top_k: 10 });
  };
  return (
    <div className="stack">
      <form className="row" onSubmit={ask}>
        <input
          className="grow"
          name="query"
          type="search"
          aria-label="Query"
          placeholder="What would a user type?"
          defaultValue={query}
          required
        />
        <label className="check">
          <input type="checkbox" name="rerank" /> rerank
        </label>
        <button
          type="submit"
          className="button main"
          disabled={search.isPending || modes.length === 0}
        >
          {search.isPending ? "Searching…" : "Search"}
        </button>
      </form>
      {!sparse && (
        <small>
          Sparse and hybrid search need a sparse index, which this collection was made without.
        </small>
      )}
      <Problem of={search.error} />
      {search.data && <Found id={collection.id} searched={search.data} />}
    </div>
  );
}

function Found({ id, searched }: { id: string; searched: CollectionSearched }) {
  const [open, setOpen] = useState("");
  return (
    <div className="thirds">
      {searched.results.map(({ mode, hits, search_time_ms }) => (
        <section key={mode} aria-label={`${mode} results`}>
          <h2 className="minor">
            {mode} <small>{milliseconds(search_time_ms)}</small>
          </h2>
          {hits.length === 0 && <p className="soft">No hits.</p>}
          <ol className="hits">
            {hits.map((hit, at) => (
              <Hit
                key={`${place(hit)} ${hit.score}`}
                hit={hit}
                rank={at + 1}
                open={open === `${mode} ${at}`}
                onToggle={() => setOpen(open === `${mode} ${at}` ? "" : `${mode} ${at}`)}
              >
                <HitText id={id} hit={hit} query={searched.query} />
              </Hit>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

type HitProps = {
  hit: FoundHit;
  rank: number;
  open: boolean;
  onToggle: () => void;
  children: ReactNode;
};

function Hit({ hit, rank, open, onToggle, children }: HitProps) {
  return (
    <li>
      <button type="button" className="hit" aria-expanded={open} onClick={onToggle}>
        <span className="rank">{rank}</span>
        <span className="place">
          {place(hit)} {hit.symbol && <small>{hit.symbol}</small>}
        </span>
        <small title="The score that this mode gave; scores of two modes cannot be compared.">
          {hit.score.toPrecision(3)}
        </small>
      </button>
      {open && children}
    </li>
  );
}

/** A hit where it stands in its document, in the colours of its language. */
function HitText({ id, hit, query }: { id: string; hit: FoundHit; query: string }) {
  const content = useContent(id, hit.path);
  return (
    <Loaded of={content}>
      {({ text, language }) => (
        <Code
          label={`Text of ${place(hit)}`}
          text={text}
          language={language}
          first={hit.start_line}
          last={hit.end_line}
          around={3}
          query={query}
        />
      )}
    </Loaded>
  );
}
