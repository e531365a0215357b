import type { ReactNode } from "react";

type Tone = "good" | "warn" | "bad" | "live";

const TONES: Record<string, Tone | undefined> = {
  completed: "good",
  ready: "good",
  resolved: "good",
  running: "live",
  indexing: "live",
  evaluating: "live",
  timing: "live",
  partial: "warn",
  failed: "bad",
};

export function Badge({ tone, children }: { tone?: Tone | undefined; children: ReactNode }) {
  return <span className={tone ? `badge ${tone}` : "badge"}>{children}</span>;
}

/** The status of a benchmark, run, collection or mapping; the colour only repeats the word. */
export function Status({ of }: { of: string }) {
  return <Badge tone={TONES[of]}>{of}</Badge>;
}
