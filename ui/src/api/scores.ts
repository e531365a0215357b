import { useMutation } from "@tanstack/react-query";
import { send } from "./client";

export type ScoreFile = { file: File; lower: string };
export type ScoreReport = { verdict: string; html: string };

const report = (format: "json" | "html", { file, lower }: ScoreFile): Promise<Response> => {
  const form = new FormData();
  form.set("file", file);
  const params = { format, lower: lower.replaceAll(" ", "") };
  return send("/api/extensions/scores/report", { method: "POST", form, params });
};

/** Compares the systems of a file of scores; the service stores nothing. */
export function useScoreReport() {
  return useMutation({
    mutationFn: async (of: ScoreFile): Promise<ScoreReport> => {
      // In turn: a wrong file is one error, not two.
      const { verdict } = (await (await report("json", of)).json()) as { verdict: string };
      return { verdict, html: await (await report("html", of)).text() };
    },
  });
}
