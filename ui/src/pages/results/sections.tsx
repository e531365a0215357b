import type { ReactNode } from "react";
import type { Details, Results } from "@/api/types";
import { CostTab } from "./CostTab";
import { ExtraTab } from "./ExtraTab";
import { HeatTab } from "./HeatTab";
import { MethodTab } from "./MethodTab";
import { OverviewTab } from "./OverviewTab";
import { QueriesTab } from "./QueriesTab";
import { SlicesTab } from "./SlicesTab";

export type Section = { name: string; label: string; show: () => ReactNode };

type Props = { id: string; results: Results; details: Details | undefined };

/** The parts of the results: tabs of the service's page, sections of a report file. */
export function sections({ id, results, details }: Props): Section[] {
  const own = { id, results, details };
  // Scores of a file have no hits, no loss reasons and no latencies.
  const searched =
    results.loss_reasons.length > 0 || results.runs.some(({ latency }) => latency.measured);
  return [
    { name: "runs", label: "Runs", show: () => <OverviewTab {...own} /> },
    { name: "queries", label: "Queries", show: () => <QueriesTab id={id} results={results} /> },
    { name: "heat", label: "Heat map", show: () => <HeatTab id={id} results={results} /> },
    { name: "slices", label: "By tag", show: () => <SlicesTab id={id} results={results} /> },
    ...(details
      ? [
          ...(searched || details.tables.length > 0
            ? [
                {
                  name: "cost",
                  label: "Latency and cost",
                  show: () => <CostTab results={results} details={details} />,
                },
              ]
            : []),
          ...details.sections.map((section, at) => ({
            name: `section-${at + 1}`,
            label: section.title,
            show: () => <ExtraTab section={section} />,
          })),
          {
            name: "method",
            label: "Method",
            show: () => <MethodTab results={results} details={details} />,
          },
        ]
      : []),
  ];
}
