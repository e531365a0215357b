import type { CurrentRun } from "@/api/types";
import { plural } from "./format";

const STAGES: Record<string, string> = {
  pending: "queued until a worker is free",
  waiting: "waiting to measure latency",
  comparing: "comparing the runs",
  timing: "measuring latency",
  explaining: "finding out why targets were missed",
};

/** What a benchmark does now, in words; a stage that needs none is its own name. */
export const stage = (name: string): string => STAGES[name] ?? name;

/** What a benchmark waits for whose job is at a place of the queue, from 1. */
export function queued(position: number): string {
  const ahead = position - 1;
  if (ahead === 0) return "Queued: it starts as soon as a worker is free.";
  return `Queued: it starts when a worker is free; ${plural(ahead, "job is", "jobs are")} ahead of it.`;
}

const clock = (at: string): string =>
  new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** Why latency is not measured yet; who uses the machine is not always known. */
export function waiting(processes: CurrentRun["waiting_for"] = []): string {
  const known = processes.map(
    ({ pid, command, since }) => `pid ${pid}: ${command}, since ${clock(since)}`,
  );
  const who = known.length > 0 ? ` (${known.join("; ")})` : "";
  const others = known.length > 1 ? `other karat runs${who} are` : `another karat run${who} is`;
  return `Waiting to measure latency: ${others} using this machine.`;
}
