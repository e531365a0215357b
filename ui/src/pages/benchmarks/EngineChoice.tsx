import { useEngines } from "@/api/system";

type Props = { chosen: readonly string[]; onToggle: (name: string) => void };

/** The searches of one's own that whoever runs the service offers, or how to offer one. */
export function EngineChoice({ chosen, onToggle }: Props) {
  const engines = useEngines().data?.engines;
  if (!engines) return null;
  return (
    <fieldset>
      <legend>Your own engines</legend>
      {engines.length === 0 ? (
        <small>
          This service has none. <code>karat serve --http-target NAME=URL</code> lets benchmarks ask
          yours.
        </small>
      ) : (
        <>
          <div className="row">
            {engines.map(({ name, kind }) => (
              <label key={name} className="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(name)}
                  onChange={() => onToggle(name)}
                />
                {name} <small>{kind}</small>
              </label>
            ))}
          </div>
          <small>One run per engine and top_k; the other settings apply to modes only.</small>
        </>
      )}
    </fieldset>
  );
}
