import { type DragEvent, type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { ApiError } from "@/api/client";
import { useUpload } from "@/api/datasets";
import { useMe } from "@/api/system";
import { Code } from "@/parts/Code";
import { Dialog } from "@/parts/Dialog";
import { Problem } from "@/parts/Notes";
import { bytes, plural } from "@/words/format";
import { type FilePreview, preview, wrongLines } from "./preview";

const SHOWN_QUERIES = 5;
const SHOWN_LINES = 400;

const stem = (file: File): string => file.name.replace(/\.[^.]+$/, "");

/** Takes a file by drop or by choice, shows what it holds, and sends it; errors point at their lines. */
export function UploadDialog({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [seen, setSeen] = useState<FilePreview | null>(null);
  const [name, setName] = useState("");
  const [over, setOver] = useState(false);
  const [, navigate] = useLocation();
  const limit = useMe().data?.limits.upload_bytes;
  const upload = useUpload();

  const take = async (taken: File | undefined) => {
    if (!taken) return;
    upload.reset();
    setFile(taken);
    // A name that was typed stays; one that came from another file does not.
    if (name === "" || (file && name === stem(file))) setName(stem(taken));
    setSeen(preview(await taken.text()));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!file) return;
    const description = String(new FormData(event.currentTarget).get("description"));
    upload.mutate(
      { name, description, file },
      { onSuccess: ({ id }) => navigate(`/datasets/${id}?tab=mappings`) },
    );
  };
  const tooLarge = file && limit !== undefined && file.size > limit;
  const wrong = upload.error instanceof ApiError ? wrongLines(upload.error.detail) : undefined;
  return (
    <Dialog title="Upload a dataset" wide onClose={onClose}>
      <form className="stack" onSubmit={send}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the field inside takes files by keyboard. */}
        <div
          className={over ? "drop over" : "drop"}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <label className="field">
            Drop a file here, or choose one
            <input type="file" onChange={(event) => take(event.target.files?.[0])} />
          </label>
          {file && (
            <p>
              {file.name}, {bytes(file.size)}
            </p>
          )}
          {tooLarge && <p className="loss">The server takes files up to {bytes(limit)}.</p>}
        </div>
        {upload.error ? (
          <Problem of={upload.error} />
        ) : (
          seen?.queries && <Queries of={seen.queries} />
        )}
        {seen && (wrong?.size || !seen.queries) && (
          <Lines text={seen.text} wrong={wrong ?? new Set()} />
        )}
        <div className="fields">
          <label className="field">
            Name
            <input
              value={name}
              maxLength={255}
              onChange={(event) => setName(event.target.value)}
              required
            />
          </label>
          <label className="field">
            Description
            <input name="description" maxLength={2000} />
          </label>
        </div>
        <footer>
          <button
            type="submit"
            className="button main"
            disabled={!file || upload.isPending || tooLarge === true}
          >
            {upload.isPending ? "Uploading…" : "Upload"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function Queries({ of }: { of: NonNullable<FilePreview["queries"]> }) {
  const judgments = of.reduce((sum, query) => sum + query.judgments, 0);
  return (
    <section aria-label="Preview">
      <p>
        {plural(of.length, "query", "queries")}, {plural(judgments, "judgment")}
      </p>
      <ul>
        {of.slice(0, SHOWN_QUERIES).map(({ key, text, judgments: number }) => (
          <li key={key}>
            <span className="soft">{key}</span> <span className="anywhere">{text}</span>{" "}
            <small>{plural(number, "judgment")}</small>
          </li>
        ))}
        {of.length > SHOWN_QUERIES && (
          <li className="soft">and {of.length - SHOWN_QUERIES} more</li>
        )}
      </ul>
    </section>
  );
}

/** The first lines of the file, or those around the first mistake. */
function Lines({ text, wrong }: { text: string; wrong: ReadonlySet<number> }) {
  const first = Math.min(...wrong);
  const far = Number.isFinite(first) && first > SHOWN_LINES;
  return far ? (
    <Code label="The file" text={text} wrong={wrong} first={first} last={first} around={20} />
  ) : (
    <Code label="The file" text={text.split("\n").slice(0, SHOWN_LINES).join("\n")} wrong={wrong} />
  );
}
