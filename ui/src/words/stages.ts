const STAGES: Record<string, string> = {
  waiting: "waiting for another measurement to end",
  timing: "taking times",
  explaining: "finding out why targets were missed",
};

/** What a benchmark does now, in words; a stage that needs none is its own name. */
export const stage = (name: string): string => STAGES[name] ?? name;
