import { Link, useLocation } from "wouter";
import type { useExample } from "@/api/benchmarks";
import { useCollections } from "@/api/collections";
import { useDatasets } from "@/api/datasets";
import { useMayWrite } from "@/api/system";
import { Empty } from "@/parts/Notes";

/** What to do next, where nothing has been measured yet: the first step that is not done. */
export function FirstSteps({ example }: { example: ReturnType<typeof useExample> }) {
  const collections = useCollections().data?.total ?? 0;
  const datasets = useDatasets().data?.total ?? 0;
  const [, navigate] = useLocation();
  const mayWrite = useMayWrite();
  const steps = [
    {
      done: collections > 0,
      to: "/collections?new=1",
      label: "Add a collection",
      why: "the documents to be searched",
    },
    {
      done: datasets > 0,
      to: "/datasets?new=1",
      label: "Upload a dataset",
      why: "queries, and what is relevant to them",
    },
    {
      done: false,
      to: "/benchmarks/new",
      label: "Create a benchmark",
      why: "the configurations to be compared",
    },
  ];
  // The example comes first until the reader has brought something.
  const fresh = collections === 0 && datasets === 0;
  const next = steps.find(({ done }) => !done);
  if (!mayWrite)
    return (
      <Empty title="Nothing has been measured yet">
        <p>Your token can only read. Results appear here when somebody runs a benchmark.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing has been measured yet">
      <p className="row">
        <button
          type="button"
          className={fresh ? "button main" : "button"}
          disabled={example.isPending}
          onClick={() =>
            example.mutate(undefined, {
              onSuccess: ({ benchmark_id }) => navigate(`/benchmarks/${benchmark_id}`),
            })
          }
        >
          Try the example
        </button>
        <span role="status">
          {example.isPending
            ? "Indexing a small web shop…"
            : "Which search mode finds the file to change in a small web shop?"}
        </span>
      </p>
      <p>With your own documents, three steps lead to the first result.</p>
      <ol className="steps">
        {steps.map(({ done, to, label, why }) => (
          <li key={to} className="row">
            <span aria-hidden="true">{done ? "✓" : "○"}</span>
            <Link href={to} className={!fresh && label === next?.label ? "button main" : "button"}>
              {label}
            </Link>
            <span>
              {why}
              {done && <span className="unseen">, done</span>}
            </span>
          </li>
        ))}
      </ol>
    </Empty>
  );
}
