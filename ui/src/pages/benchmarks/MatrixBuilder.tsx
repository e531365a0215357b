import type { Collection, Mode } from "@/api/types";
import { EngineChoice } from "./EngineChoice";
import { ModelChoice } from "./ModelChoice";
import { type Draft, type Parsed, PRESETS } from "./matrix";

type Props = {
  draft: Draft;
  parsed: Parsed;
  collection: Collection | undefined;
  onChange: (draft: Draft) => void;
};

const MODES: readonly { mode: Mode; label: string }[] = [
  { mode: "dense", label: "dense: by meaning" },
  { mode: "sparse", label: "sparse: by words" },
  { mode: "hybrid", label: "hybrid: both, fused" },
];

const FIELDS = [
  { name: "topK", label: "top_k", hint: "Number of hits per query." },
  {
    name: "rrfK",
    label: "rrf_k",
    hint: "Constant of reciprocal rank fusion; with values, the default fusion of hybrid is rrf.",
  },
  {
    name: "thresholds",
    label: "Score thresholds",
    hint: "Hits with a lower score are dropped; none keeps all.",
  },
  { name: "metricKs", label: "k of the measures", hint: "Values of k to compute measures at." },
  { name: "primaryK", label: "Primary k", hint: "The k of the primary measure." },
] as const;

const TUNING = [
  {
    name: "denseWeight",
    label: "dense_weight",
    hint: "Share of the embeddings in hybrid, 0 to 1.",
  },
  {
    name: "fusion",
    label: "fusion",
    hint: "How hybrid joins two rankings: min-max (default) or rrf.",
  },
  { name: "k1", label: "k1", hint: "BM25: how fast repeated words stop counting." },
  { name: "b", label: "b", hint: "BM25: how much the length of a text counts, 0 to 1." },
  { name: "rerankDepth", label: "rerank_depth", hint: "Hits that the reranker reads." },
] as const;

/** Whether a collection has the indexes that a mode needs; before one is chosen, any will do. */
function serves(collection: Collection | undefined, mode: Mode): boolean {
  if (!collection) return true;
  const dense = collection.dense.state === "ready";
  const sparse = collection.sparse.state === "ready";
  return { dense, sparse, hybrid: dense && sparse }[mode];
}

function toggled<T>(values: readonly T[], value: T): T[] {
  return values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
}

/** The settings that are combined: presets first, every axis below. */
export function MatrixBuilder({ draft, parsed, collection, onChange }: Props) {
  const problems = parsed.problems ?? {};
  const missing = MODES.map(({ mode }) => mode).filter((mode) => !serves(collection, mode));
  return (
    <div className="stack">
      <fieldset>
        <legend>Presets</legend>
        <div className="row">
          {PRESETS.map(({ name, why, draft: preset }) => (
            <button
              key={name}
              type="button"
              className="button"
              title={why}
              onClick={() => onChange({ ...preset, engines: draft.engines })}
            >
              {name}
            </button>
          ))}
        </div>
      </fieldset>
      <fieldset>
        <legend>Search modes</legend>
        <div className="row">
          {MODES.map(({ mode, label }) => (
            <label key={mode} className="check">
              <input
                type="checkbox"
                checked={draft.modes.includes(mode)}
                disabled={missing.includes(mode) && !draft.modes.includes(mode)}
                onChange={() => onChange({ ...draft, modes: toggled(draft.modes, mode) })}
              />
              {label}
            </label>
          ))}
        </div>
        {missing.length > 0 && (
          <small>
            The collection lacks an index for {missing.join(" and ")}. Make one with it to compare
            these.
          </small>
        )}
        {problems.modes && <small className="loss">{problems.modes}</small>}
      </fieldset>
      <EngineChoice
        chosen={draft.engines}
        onToggle={(name) => onChange({ ...draft, engines: toggled(draft.engines, name) })}
      />
      <fieldset>
        <legend>Reranker</legend>
        <div className="row">
          {[false, true].map((on) => (
            <label key={String(on)} className="check">
              <input
                type="checkbox"
                checked={draft.reranker.includes(on)}
                onChange={() => onChange({ ...draft, reranker: toggled(draft.reranker, on) })}
              />
              {on ? "with" : "without"}
            </label>
          ))}
        </div>
        {problems.reranker && <small className="loss">{problems.reranker}</small>}
      </fieldset>
      <ModelChoice draft={draft} problems={problems} onChange={onChange} />
      <TextFields fields={FIELDS} draft={draft} problems={problems} onChange={onChange} />
      <details open={TUNING.some(({ name }) => problems[name] !== undefined) || undefined}>
        <summary>Tuning</summary>
        <TextFields fields={TUNING} draft={draft} problems={problems} onChange={onChange} />
      </details>
    </div>
  );
}

type TextField = (typeof FIELDS | typeof TUNING)[number];

/** One text field for each axis with a list of values. */
function TextFields({
  fields,
  draft,
  problems,
  onChange,
}: {
  fields: readonly TextField[];
  draft: Draft;
  problems: NonNullable<Parsed["problems"]>;
  onChange: (draft: Draft) => void;
}) {
  return (
    <div className="fields">
      {fields.map(({ name, label, hint }) => (
        <label key={name} className="field">
          {label}
          <input
            value={draft[name]}
            aria-invalid={problems[name] !== undefined}
            onChange={(event) => onChange({ ...draft, [name]: event.target.value })}
          />
          <small className={problems[name] ? "loss" : undefined}>{problems[name] ?? hint}</small>
        </label>
      ))}
    </div>
  );
}
