import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { useCreateCollection } from "@/api/collections";
import { useMe } from "@/api/system";
import type { EmbeddingModel } from "@/api/types";
import { Dialog } from "@/parts/Dialog";
import { Problem } from "@/parts/Notes";
import { IndexFields } from "./IndexFields";

const KINDS = [
  { kind: "folder", label: "Folder on the server" },
  { kind: "git", label: "Git repository on the server" },
  { kind: "beir", label: "BEIR corpus on the server" },
  { kind: "upload", label: "Archive from this computer (.zip, .tar.gz)" },
] as const;
// What is offered; the server knows which others there are, and what they take.
const CHUNKERS = [
  "auto",
  "definitions",
  "markdown",
  "lines(size=40, overlap=5)",
  "window:256",
  "window(unit=tokens, size=256, overlap=32)",
] as const;
const FILES = [
  { kind: "all", label: "All files" },
  { kind: "docs", label: "Documentation only" },
  { kind: "code", label: "Code only" },
] as const;
type Files = (typeof FILES)[number]["kind"];
type Kind = (typeof KINDS)[number]["kind"];

/** Makes a collection; its indexing goes on when the dialog is closed. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Kind>("folder");
  const [, navigate] = useLocation();
  const me = useMe().data;
  const roots = me?.roots ?? [];
  const create = useCreateCollection();
  const make = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const file = form.get("file");
    create.mutate(
      {
        name: text("name"),
        description: text("description"),
        files: { kind: (text("files") || "all") as Files, include: [], exclude: [] },
        index: {
          dense: form.has("dense"),
          sparse: form.has("sparse"),
          chunker: text("chunker") || CHUNKERS[0],
          // A form without an installed model sends none, and a sparse index needs none.
          model: (text("model") || "granite") as EmbeddingModel["name"],
        },
        ...(kind === "upload"
          ? { archive: file instanceof File ? file : undefined }
          : { source: source(kind, text("path"), text("revision")) }),
      },
      { onSuccess: ({ id }) => navigate(`/collections/${id}`) },
    );
  };
  return (
    <Dialog title="Add a collection" onClose={onClose}>
      <form className="stack" onSubmit={make}>
        <label className="field">
          Name
          <input name="name" maxLength={255} required />
        </label>
        <label className="field">
          Where the documents are
          <select value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
            {KINDS.map(({ kind: one, label }) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {kind === "upload" ? (
          <label className="field">
            Archive
            <input name="file" type="file" accept=".zip,.tar.gz,.tgz" required />
          </label>
        ) : (
          <label className="field">
            Path
            <input name="path" required defaultValue={roots[0] ?? ""} />
            <small>
              {roots.length
                ? `Below ${roots.join(" or ")}.`
                : "The server was started without --root, so it cannot open folders. Upload an archive instead."}
            </small>
          </label>
        )}
        {kind === "git" && (
          <label className="field">
            Revision
            <input name="revision" defaultValue="HEAD" required />
          </label>
        )}
        <label className="field">
          Files
          <select name="files" defaultValue="all">
            {FILES.map(({ kind: one, label }) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <IndexFields key={me ? "known" : "unknown"} models={me?.models ?? []} />
        <label className="field">
          Chunks
          <input name="chunker" list="chunkers" placeholder={CHUNKERS[0]} maxLength={250} />
          <datalist id="chunkers">
            {CHUNKERS.map((chunker) => (
              <option key={chunker} value={chunker} />
            ))}
          </datalist>
          <small>
            How documents are split into chunks: auto follows the structure of the language; a
            window has a fixed number of words or model tokens.
          </small>
        </label>
        <label className="field">
          Description
          <input name="description" maxLength={2000} />
        </label>
        <footer>
          <Problem of={create.error} />
          <button type="submit" className="button main" disabled={create.isPending}>
            {create.isPending ? "Adding…" : "Add"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function source(kind: Exclude<Kind, "upload">, path: string, revision: string) {
  return kind === "git" ? { kind, path, revision } : { kind, path };
}
