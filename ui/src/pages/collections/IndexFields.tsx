import type { EmbeddingModel } from "@/api/types";

/** Which indexes a collection gets; only embedding models that the server has can be chosen. */
export function IndexFields({ models }: { models: readonly EmbeddingModel[] }) {
  const best = models.find(({ installed }) => installed);
  const missing = models.filter(({ installed }) => !installed);
  return (
    <>
      <fieldset className="row">
        <legend>Indexes</legend>
        <label className="check">
          <input
            type="checkbox"
            name="dense"
            defaultChecked={best !== undefined}
            disabled={best === undefined}
          />{" "}
          dense, for search by meaning
        </label>
        <label className="check">
          <input type="checkbox" name="sparse" defaultChecked /> sparse, for search by words
        </label>
      </fieldset>
      <label className="field">
        Embedding model
        <select name="model" defaultValue={best?.name} disabled={best === undefined}>
          {models.map(({ name, installed }) => (
            <option key={name} value={name} disabled={!installed}>
              {installed ? name : `${name} (not installed)`}
            </option>
          ))}
        </select>
        <small>
          From the best to the fastest; only the dense index uses it.
          {missing[0] &&
            ` Not installed on the server: ${missing.map(({ name }) => name).join(", ")}; install with ${missing[0].install}.`}
        </small>
      </label>
    </>
  );
}
