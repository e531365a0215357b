import { useControl } from "@/api/benchmarks";
import type { Benchmark } from "@/api/types";
import { Problem } from "@/parts/Notes";

/** Start and cancel, whichever the status allows; ended benchmarks continue with what is missing. */
export function Controls({ benchmark }: { benchmark: Benchmark }) {
  const control = useControl(benchmark.id);
  const { status } = benchmark;
  return (
    <>
      {status === "running" && (
        <button
          type="button"
          className="button"
          disabled={control.isPending}
          onClick={() => control.mutate("cancel")}
        >
          Cancel
        </button>
      )}
      {(status === "pending" || status === "cancelled" || status === "failed") && (
        <button
          type="button"
          className="button main"
          disabled={control.isPending}
          onClick={() => control.mutate("start")}
        >
          {status === "pending" ? "Start" : "Continue"}
        </button>
      )}
      <Problem of={control.error} />
    </>
  );
}
