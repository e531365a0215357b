/** What a file seems to hold, before the server reads it with all its care. */
export type FilePreview = {
  text: string;
  queries: readonly { key: string; text: string; judgments: number }[] | null;
};

function listed(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!value || typeof value !== "object") return [];
  const found = Object.entries(value).find(
    ([key, inner]) => ["queries", "test_cases"].includes(key) && Array.isArray(inner),
  );
  return (found?.[1] as unknown[] | undefined) ?? [];
}

const JUDGMENTS = [
  "relevant_docs",
  "relevant_doc_refs",
  "ground_truth_files",
  "relevant",
  "expected_files",
];

function query(entry: unknown): { key: string; text: string; judgments: number } | null {
  if (!entry || typeof entry !== "object") return null;
  const fields = entry as Record<string, unknown>;
  const text = fields.query_text ?? fields.query;
  if (typeof text !== "string") return null;
  const key = fields.query_key ?? fields.query_id ?? fields.id ?? "";
  const judged = JUDGMENTS.map((name) => fields[name]).find(Array.isArray);
  return { key: String(key), text, judgments: judged?.length ?? 0 };
}

/** A preview of a file; queries are told only of JSON, whose shape is known here. */
export function preview(text: string): FilePreview {
  try {
    const found = listed(JSON.parse(text)).map(query);
    const queries = found.filter((one) => one !== null);
    return { text, queries: queries.length ? queries : null };
  } catch {
    return { text, queries: null };
  }
}

/** The lines that messages such as `file.json:12: ...` name. */
export function wrongLines(detail: string): Set<number> {
  const named = detail.matchAll(/(?:^|\n)[^\n:]*:(\d+)(?::\d+)?: /g);
  return new Set([...named].map(([, line]) => Number(line)));
}
