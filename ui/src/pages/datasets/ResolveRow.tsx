import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { useResolve, useUnresolved } from "@/api/datasets";
import { useJobProgress } from "@/api/progress";
import type { Mapping } from "@/api/types";
import { Status } from "@/parts/Badge";
import { Problem } from "@/parts/Notes";
import { Term } from "@/parts/Term";
import { Writer } from "@/parts/Writer";
import { DEFINITIONS } from "@/words/definitions";
import { count } from "@/words/format";
import { UnresolvedList } from "./UnresolvedList";

/** How many references are resolved, with the button that resolves them and what is left over. */
export function ResolveRow({ mapping }: { mapping: Mapping }) {
  const client = useQueryClient();
  const resolve = useResolve(mapping);
  const [operation, setOperation] = useState<string | null>(null);
  const onEnd = useCallback(() => {
    setOperation(null);
    client.invalidateQueries({ queryKey: ["datasets", mapping.dataset_id, "mappings"] });
  }, [client, mapping.dataset_id]);
  const progress = useJobProgress(operation, onEnd);
  const { data: resolved } = resolve;
  useEffect(() => setOperation(resolved?.operation_uuid ?? null), [resolved]);
  const left = useUnresolved(mapping).data;
  const running = operation !== null || resolve.isPending;
  return (
    <div className="stack">
      <div className="row">
        <Status of={mapping.mapping_status} />
        <span aria-live="polite">
          {progress && running
            ? `${count(progress.done)} of ${count(progress.total)} looked up`
            : mapping.mapping_status === "pending"
              ? "The references have not been looked up yet."
              : `${count(mapping.mapped_count)} of ${count(mapping.total_count)}`}{" "}
          {mapping.mapping_status !== "pending" && (
            <Term means={DEFINITIONS.mapped}>references resolved</Term>
          )}
        </span>
        <Writer>
          <button
            type="button"
            className="button small"
            disabled={running}
            onClick={() => resolve.mutate()}
          >
            {running
              ? "Resolving…"
              : mapping.mapping_status === "pending"
                ? "Resolve"
                : "Resolve again"}
          </button>
        </Writer>
      </div>
      <Problem of={resolve.error} />
      {progress?.error_message && <Problem of={progress.error_message} />}
      {left && left.unresolved.length > 0 && (
        <UnresolvedList mapping={mapping} unresolved={left.unresolved} moved={left.moved_folder} />
      )}
    </div>
  );
}
