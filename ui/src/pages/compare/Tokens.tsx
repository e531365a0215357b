import { type DragEvent, type KeyboardEvent, useRef, useState } from "react";
import type { RunResult } from "@/api/types";
import { Term } from "@/parts/Term";
import { DEFINITIONS } from "@/words/definitions";
import { change } from "@/words/format";
import { tone } from "./deltas";

type Props = {
  runs: readonly RunResult[];
  /** Those of them that can be the baseline. */
  baselines: readonly RunResult[];
  metric: string;
  isLower: boolean;
  baseline: RunResult;
  /** The run that is seen query by query, where one is. */
  chosen: string | undefined;
  onBaseline: (run: string) => void;
  onChoose: (run: string) => void;
};

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const KIND = "application/x-karat-run";

/**
 * The baseline as a token, and beside it those of the runs that are held against it. A run becomes
 * the baseline when it is chosen there, dragged there, or given the key b; arrows walk the runs.
 */
export function Tokens(props: Props) {
  const { runs, baselines, metric, isLower, baseline, chosen, onBaseline, onChoose } = props;
  const slot = useRef<HTMLSelectElement>(null);
  const [over, setOver] = useState(false);
  const others = runs.filter((run) => run.id !== baseline.id);
  // One stop for Tab: the run that is seen, else the first.
  const stop = others.some(({ id }) => id === chosen) ? chosen : others[0]?.id;
  const difference = (run: RunResult) =>
    (run.metrics_flat[metric] ?? 0) - (baseline.metrics_flat[metric] ?? 0);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>, run: RunResult) => {
    const token = event.currentTarget;
    if (event.key === "b") {
      onBaseline(run.id);
      slot.current?.focus();
    }
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const next = step > 0 ? token.nextElementSibling : token.previousElementSibling;
    if (next instanceof HTMLElement) next.focus();
  };
  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(KIND)) return;
    event.preventDefault();
    setOver(true);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onBaseline(event.dataTransfer.getData(KIND));
  };
  return (
    <div className="against">
      <label
        className={over ? "slot over" : "slot"}
        onDragOver={onDragOver}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <Term means={DEFINITIONS.baseline}>Baseline</Term>
        <select
          ref={slot}
          className="token"
          value={baseline.id}
          onChange={(event) => onBaseline(event.target.value)}
        >
          {baselines.map((run) => (
            <option key={run.id} value={run.id}>
              {run.name}
            </option>
          ))}
        </select>
      </label>
      <div className="tokens" role="toolbar" aria-label="Runs against the baseline">
        {others.map((run) => (
          <button
            key={run.id}
            type="button"
            className="token"
            draggable
            tabIndex={run.id === stop ? 0 : -1}
            aria-pressed={run.id === chosen}
            aria-keyshortcuts="b"
            onClick={() => onChoose(run.id)}
            onKeyDown={(event) => onKeyDown(event, run)}
            onDragStart={(event) => event.dataTransfer.setData(KIND, run.id)}
          >
            {run.name}{" "}
            <span className={tone(difference(run), isLower)}>{change(difference(run))}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
