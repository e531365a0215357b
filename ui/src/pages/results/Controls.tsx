import { isActive, type useControl } from "@/api/benchmarks";
import type { Benchmark } from "@/api/types";

type Props = { benchmark: Benchmark; control: ReturnType<typeof useControl> };

/** Start and cancel, whichever the status allows; ended benchmarks continue with what is missing. */
export function Controls({ benchmark, control }: Props) {
  if (isActive(benchmark))
    return (
      <button
        type="button"
        className="button"
        disabled={control.isPending}
        onClick={() => control.mutate("cancel")}
      >
        Cancel
      </button>
    );
  if (benchmark.status === "completed") return null;
  // Its worker has not noticed the cancellation, and nothing can be started before that.
  const stopping = benchmark.is_stopping;
  return (
    <button
      type="button"
      className="button main"
      disabled={control.isPending || stopping}
      onClick={() => control.mutate("start")}
    >
      {stopping ? "Stopping…" : benchmark.status === "pending" ? "Start" : "Continue"}
    </button>
  );
}
