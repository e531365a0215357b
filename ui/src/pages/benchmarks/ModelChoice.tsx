import { useMe } from "@/api/system";
import type { Draft, Parsed } from "./matrix";

type Props = {
  draft: Draft;
  problems: NonNullable<Parsed["problems"]>;
  onChange: (draft: Draft) => void;
};

function toggled<T>(values: readonly T[], value: T): T[] {
  return values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
}

/** Models, rerankers and contexts that the service offers; a kind without a choice is not shown. */
export function ModelChoice({ draft, problems, onChange }: Props) {
  const choices = useMe().data?.choices;
  if (!choices) return null;
  return (
    <>
      {choices.models.length > 1 && (
        <Choice
          legend="Embedding models"
          values={choices.models}
          chosen={draft.models}
          onToggle={(name) => onChange({ ...draft, models: toggled(draft.models, name) })}
          hint="For dense and hybrid. Without a choice, the model of the collection is used."
        />
      )}
      {choices.rerankers.length > 1 && (
        <Choice
          legend="Rerankers"
          values={choices.rerankers}
          chosen={draft.rerankers}
          onToggle={(name) => onChange({ ...draft, rerankers: toggled(draft.rerankers, name) })}
          hint="For runs with a reranker."
          problem={problems.rerankers}
        />
      )}
      {choices.contexts.length > 0 && (
        <Choice
          legend="Contexts"
          values={[null, ...choices.contexts]}
          chosen={draft.contexts}
          onToggle={(name) => onChange({ ...draft, contexts: toggled(draft.contexts, name) })}
          hint="A chat model writes a sentence about each chunk, which is indexed with it."
          problem={problems.contexts}
        />
      )}
    </>
  );
}

function Choice<T extends string | null>({
  legend,
  values,
  chosen,
  onToggle,
  hint,
  problem,
}: {
  legend: string;
  values: readonly T[];
  chosen: readonly T[];
  onToggle: (value: T) => void;
  hint: string;
  problem?: string | undefined;
}) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div className="row">
        {values.map((value) => (
          <label key={value ?? ""} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => onToggle(value)}
            />
            {value ?? "without"}
          </label>
        ))}
      </div>
      <small className={problem ? "loss" : undefined}>{problem ?? hint}</small>
    </fieldset>
  );
}
