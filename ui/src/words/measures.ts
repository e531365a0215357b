import { useCallback } from "react";
import { useDefinitions } from "@/api/results";

/** A function that defines a measure such as `ndcg@10`, by the words of the service or the report. */
export function useMeasure(): (name: string) => string {
  const metrics = useDefinitions().data?.metrics;
  return useCallback(
    (name) => {
      const stem = name.split(/[(@]/)[0]?.toLowerCase() ?? name;
      const metric = metrics?.find(
        (one) => one.name === stem || one.aliases.some((alias) => alias.toLowerCase() === stem),
      );
      if (!metric) return "";
      const k = name.split("@")[1];
      const cut = k ? ` Only the first ${k} hits count.` : "";
      return `${metric.definition}${cut}${metric.higher_is_better ? "" : " Lower is better."}`;
    },
    [metrics],
  );
}
