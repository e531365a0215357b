import { Link, useLocation } from "wouter";
import { isActive, useBenchmark, useControl, useDeleteBenchmark } from "@/api/benchmarks";
import { address } from "@/api/client";
import { useDetails, useResults } from "@/api/results";
import { useMayWrite } from "@/api/system";
import type { Benchmark, Results } from "@/api/types";
import { Status } from "@/parts/Badge";
import { Confirm } from "@/parts/Confirm";
import { Empty, Loaded, Problem } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { Revision } from "@/parts/Revision";
import { Tabs } from "@/parts/Tabs";
import { useUrlState } from "@/parts/urlState";
import { Writer } from "@/parts/Writer";
import { moment, plural } from "@/words/format";
import { Changes } from "./Changes";
import { Controls } from "./Controls";
import { Outcome, OutcomeLine } from "./Outcome";
import { Progress } from "./Progress";
import { RemarksTab } from "./RemarksTab";
import { sections } from "./sections";

/** One benchmark: what it does now, and what its runs have scored. */
export function ResultsPage({ id }: { id: string }) {
  const benchmark = useBenchmark(id);
  return <Loaded of={benchmark}>{(data) => <Found benchmark={data} />}</Loaded>;
}

function Found({ benchmark }: { benchmark: Benchmark }) {
  const { id, name, description, status } = benchmark;
  const results = useResults(id);
  const scored = results.data?.runs.filter((run) => run.status === "completed").length ?? 0;
  const control = useControl(id);
  const remove = useDeleteBenchmark();
  const [, navigate] = useLocation();
  return (
    <Page
      title={name}
      crumbs={[{ label: "Benchmarks", to: "/benchmarks" }]}
      below={
        <>
          {description && <p className="soft">{description}</p>}
          <div className="row soft">
            <Status of={status} />
            <span>{plural(benchmark.total_runs, "run")}</span>
            <span>created {moment(benchmark.created_at)}</span>
            {benchmark.commit && <Revision of={benchmark.commit} />}
            {results.data && <span>judgments version {results.data.judgments_version}</span>}
            {scored > 0 && <Exports id={id} />}
          </div>
        </>
      }
      actions={
        <>
          {scored > 1 && (
            <Link className="button" href={`/benchmarks/${id}/compare`}>
              Compare runs
            </Link>
          )}
          <Writer>
            {scored > 0 && (
              <Link
                className="button"
                href={`/datasets/${benchmark.dataset_id}/judge?benchmark=${id}`}
              >
                Judge unjudged hits
              </Link>
            )}
            <Controls benchmark={benchmark} control={control} />
            {!isActive(benchmark) && (
              <Confirm
                label="Delete"
                question={`Delete ${name} with all its results? This cannot be undone.`}
                onConfirm={() => remove.mutateAsync(id).then(() => navigate("/benchmarks"))}
              />
            )}
          </Writer>
        </>
      }
    >
      <Problem of={control.error} />
      <Problem of={benchmark.error_message} />
      {benchmark.warning && <div className="note warn">{benchmark.warning}</div>}
      <Progress benchmark={benchmark} />
      <Loaded of={results}>{(data) => <Measured benchmark={benchmark} results={data} />}</Loaded>
    </Page>
  );
}

/** The files that the results can be taken away in. */
function Exports({ id }: { id: string }) {
  return (
    <span className="row">
      Export:
      {EXPORTS.map(({ file, label }) => (
        <a key={file} href={address(`/benchmarks/${id}/${file}`)} download>
          {label}
        </a>
      ))}
    </span>
  );
}

const EXPORTS = [
  { file: "report.html", label: "HTML report" },
  { file: "export.csv", label: "CSV" },
  { file: "export.json", label: "JSON" },
];

const LATER =
  "Scores appear here as soon as a run has answered its last query; latency follows. You can close this page in the meantime.";

/** What has to happen until there are scores. */
function next({ status, is_stopping }: Benchmark, mayWrite: boolean): string {
  const ended = status === "failed" || status === "cancelled";
  if (!mayWrite && (ended || status === "pending"))
    return `Your token can only read; one with the scope run can ${ended ? "continue" : "start"} this benchmark.`;
  if (status === "pending") return `Press Start above. ${LATER}`;
  if (is_stopping) return "It can be continued as soon as it has stopped.";
  return ended ? "Press Continue above to run what is missing." : LATER;
}

function Measured({ benchmark, results }: { benchmark: Benchmark; results: Results }) {
  const [tab, setTab] = useUrlState("tab", "runs");
  const mayWrite = useMayWrite();
  const { id, status } = benchmark;
  const scored = results.runs.filter((run) => run.status === "completed");
  const isSettled = !isActive(benchmark) && scored.length > 0;
  const details = useDetails(id, isSettled).data;
  if (scored.length === 0 && results.runs.every((run) => run.error_message === null)) {
    return (
      <Empty title={status === "running" ? "The first run has started" : "No run has scores yet"}>
        <p>{next(benchmark, mayWrite)}</p>
      </Empty>
    );
  }
  const tabs = [
    ...sections({ id, results, details }),
    { name: "remarks", label: "Remarks", show: () => <RemarksTab benchmark={benchmark} /> },
  ];
  return (
    <>
      {tab === "runs" ? (
        <>
          <Outcome id={id} results={results} details={details} />
          <Changes id={id} isEnabled={isSettled} />
        </>
      ) : (
        <OutcomeLine results={results} details={details} />
      )}
      <Tabs tabs={tabs} chosen={tab} onChoose={setTab}>
        {tabs.find(({ name }) => name === tab)?.show()}
      </Tabs>
    </>
  );
}
