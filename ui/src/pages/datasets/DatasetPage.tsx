import { useLocation } from "wouter";
import { useDataset, useDeleteDataset } from "@/api/datasets";
import type { Dataset } from "@/api/types";
import { Confirm } from "@/parts/Confirm";
import { Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Tabs } from "@/parts/Tabs";
import { useUrlState } from "@/parts/urlState";
import { Writer } from "@/parts/Writer";
import { moment, plural } from "@/words/format";
import { HistoryTab } from "./HistoryTab";
import { MappingsTab } from "./MappingsTab";
import { QueriesTab } from "./QueriesTab";

const TABS = [
  { name: "queries", label: "Queries" },
  { name: "mappings", label: "Collections" },
  { name: "history", label: "Judgments" },
] as const;

/** One dataset: its queries, where they can be asked, who judged what. */
export function DatasetPage({ id }: { id: string }) {
  const dataset = useDataset(id);
  return <Loaded of={dataset}>{(data) => <Found dataset={data} />}</Loaded>;
}

function Found({ dataset }: { dataset: Dataset }) {
  const { id, name, description } = dataset;
  const [tab, setTab] = useUrlState<(typeof TABS)[number]["name"]>("tab", "queries");
  const [, navigate] = useLocation();
  const remove = useDeleteDataset();
  return (
    <Page
      title={name}
      crumbs={[{ label: "Datasets", to: "/datasets" }]}
      below={
        <>
          {description && <p className="soft">{description}</p>}
          <div className="row soft">
            <span>{plural(dataset.query_count, "query", "queries")}</span>
            <span>judgments version {dataset.version}</span>
            <span>created {moment(dataset.created_at)}</span>
          </div>
        </>
      }
      actions={
        <Writer>
          <Confirm
            label="Delete"
            question={`Delete ${name} with its judgments? This cannot be undone.`}
            onConfirm={() => remove.mutateAsync(id).then(() => navigate("/datasets"))}
          />
        </Writer>
      }
    >
      <Tabs tabs={TABS} chosen={tab} onChoose={setTab}>
        {tab === "queries" && <QueriesTab id={id} />}
        {tab === "mappings" && <MappingsTab dataset={dataset} />}
        {tab === "history" && <HistoryTab id={id} />}
      </Tabs>
    </Page>
  );
}
