import { useSyncExternalStore } from "react";

type Theme = "system" | "light" | "dark";
const KEY = "karat.theme";
const listeners = new Set<() => void>();
const ORDER: readonly Theme[] = ["system", "light", "dark"];
const system = window.matchMedia?.("(prefers-color-scheme: dark)");
const paper = window.matchMedia?.("print");

// A page in a sandbox, such as an exported report, has no storage: the choice then ends with it.
let current: Theme | null = null;

function chosen(): Theme {
  if (current) return current;
  try {
    const kept = localStorage.getItem(KEY);
    return ORDER.find((theme) => theme === kept) ?? "system";
  } catch {
    return "system";
  }
}

function keep(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    current = theme;
  }
}

function apply(): void {
  const theme = chosen();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Applies the kept theme; called once, before anything is drawn. */
export const startTheme = apply;

/** The next theme: system, light, dark, and around again. */
export function nextTheme(): void {
  const next = ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length] ?? "system";
  keep(next);
  apply();
  for (const listener of listeners) listener();
}

// Paper is light. The print styles apply after this event, too late for what is drawn by a script.
function setPrinting(event: Event): void {
  document.documentElement.toggleAttribute("data-printing", event.type === "beforeprint");
  for (const listener of listeners) listener();
}

window.addEventListener("beforeprint", setPrinting);
window.addEventListener("afterprint", setPrinting);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  system?.addEventListener("change", listener);
  paper?.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system?.removeEventListener("change", listener);
    paper?.removeEventListener("change", listener);
  };
}

/** What decides the colours: the chosen theme, what the system prefers, whether the page is printed. */
export function useTheme(): string {
  return useSyncExternalStore(subscribe, () => {
    const isPrinted = paper?.matches || document.documentElement.hasAttribute("data-printing");
    return [chosen(), system?.matches ? "dark" : "light", isPrinted ? "print" : "screen"].join(":");
  });
}
