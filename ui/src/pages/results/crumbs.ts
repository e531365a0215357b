import { useBenchmark } from "@/api/benchmarks";
import { fileIndex } from "@/api/embedded";

/** The way to the results of a benchmark; a report file has nothing above its results. */
export function useCrumbs(id: string): { label: string; to: string }[] {
  const file = fileIndex();
  const benchmark = useBenchmark(id, file === null);
  const here = {
    label: file?.title ?? benchmark.data?.name ?? "Benchmark",
    to: `/benchmarks/${id}`,
  };
  return file ? [here] : [{ label: "Benchmarks", to: "/benchmarks" }, here];
}
