import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { depth, useCreateBenchmark, usePreview } from "@/api/benchmarks";
import { request } from "@/api/client";
import { useCollection } from "@/api/collections";
import { useDataset } from "@/api/datasets";
import type { JudgeLabels, Started, TimedQueries } from "@/api/types";
import { Problem } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { useUrlState } from "@/parts/urlState";
import { LatencyChoice } from "./LatencyChoice";
import { MappingChoice, useChosenMapping } from "./MappingChoice";
import { MatrixBuilder } from "./MatrixBuilder";
import { nameOf, PLAIN, parse } from "./matrix";
import { RunCount } from "./RunCount";

/** A benchmark in the making: what is searched, what is asked, which settings are combined. */
export function NewBenchmark() {
  const [dataset, setDataset] = useUrlState("dataset", "");
  const [collection, setCollection] = useUrlState("collection", "");
  const [draft, setDraft] = useState(PLAIN);
  const [timing, setTiming] = useState<TimedQueries>("sample");
  const [labels, setLabels] = useState<JudgeLabels>("exclude");
  const [name, setName] = useState("");
  const [, navigate] = useLocation();
  const create = useCreateBenchmark();
  const mapping = useChosenMapping(dataset, collection);
  const documents = useCollection(collection);
  const parsed = parse(draft);
  const resolved = mapping && mapping.mapping_status !== "pending";
  const preview = usePreview(parsed.matrix, mapping?.id);
  const counted = preview.data !== undefined && preview.error === null;
  const ready = counted && resolved && parsed.matrix !== null;
  const questions = useDataset(dataset).data?.name;
  const proposed = parsed.matrix && questions ? nameOf(parsed.matrix, questions) : "";

  const make = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!mapping || !parsed.matrix) return;
    const start = (event.nativeEvent as SubmitEvent).submitter?.getAttribute("value") === "start";
    const description = String(new FormData(event.currentTarget).get("description"));
    const made = await create.mutateAsync({
      name: name.trim() || proposed,
      description,
      mapping_id: mapping.id,
      config_matrix: parsed.matrix,
      top_k: depth(parsed.matrix),
      metrics_to_compute: ["precision", "recall", "mrr", "ndcg", "ap"],
      timing,
      judge_labels: labels,
    });
    // A benchmark that cannot be started is still made; its own page says why.
    if (start)
      await request<Started>(`/benchmarks/${made.id}/start`, { method: "POST" }).catch(() => {});
    navigate(`/benchmarks/${made.id}`);
  };
  return (
    <Page title="New benchmark" crumbs={[{ label: "Benchmarks", to: "/benchmarks" }]}>
      <form className="stack narrow" onSubmit={(event) => make(event).catch(() => {})}>
        <section className="card stack">
          <h2>1. What is asked, and where</h2>
          <MappingChoice
            dataset={dataset}
            collection={collection}
            onDataset={setDataset}
            onCollection={setCollection}
          />
        </section>
        <section className="card stack">
          <h2>2. Which settings are combined</h2>
          <MatrixBuilder
            draft={draft}
            parsed={parsed}
            collection={documents.data}
            onChange={setDraft}
          />
          {parsed.matrix && <RunCount preview={preview} />}
          <LatencyChoice chosen={timing} onChoose={setTiming} />
          <label className="row soft">
            Labels of models in the dataset
            <select
              value={labels}
              onChange={(event) => setLabels(event.target.value as JudgeLabels)}
            >
              <option value="exclude">not used</option>
              <option value="include">used where nobody judged</option>
              <option value="only">used alone</option>
            </select>
          </label>
        </section>
        <section className="card stack">
          <h2>3. Name it</h2>
          <div className="fields">
            <label className="field">
              Name
              <input
                value={name}
                maxLength={255}
                placeholder={proposed}
                onChange={(event) => setName(event.target.value)}
                required={!proposed}
              />
            </label>
            <label className="field">
              Description
              <input name="description" maxLength={2000} />
            </label>
          </div>
          <Problem of={create.error} />
          <div className="row">
            <button
              type="submit"
              value="start"
              className="button main"
              disabled={!ready || create.isPending}
            >
              Create and start
            </button>
            <button
              type="submit"
              value="create"
              className="button"
              disabled={!ready || create.isPending}
            >
              Create only
            </button>
            {!ready && (
              <small>
                {!resolved
                  ? "The dataset must be mapped and resolved first."
                  : parsed.problems || preview.error
                    ? "Fix the marked settings first."
                    : "The runs are being counted."}
              </small>
            )}
          </div>
        </section>
      </form>
    </Page>
  );
}
