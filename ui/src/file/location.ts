import { useSyncExternalStore } from "react";
import type { BaseLocationHook, BaseSearchHook } from "wouter";

const listeners = new Set<() => void>();
let isBack = false;

function told(event?: Event): void {
  isBack = event !== undefined;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    addEventListener("popstate", told);
    addEventListener("hashchange", told);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    removeEventListener("popstate", told);
    removeEventListener("hashchange", told);
  };
}

function go(to: string, replace: boolean): void {
  if (`#${to}` === window.location.hash) return;
  try {
    history[replace ? "replaceState" : "pushState"](null, "", `#${to}`);
    told();
  } catch {
    // Some viewers let a file change its address in this way only; the event comes by itself.
    if (replace) window.location.replace(`#${to}`);
    else window.location.hash = to;
  }
}

const hash = (): readonly [path: string, search: string] => {
  const [path = "", search = ""] = window.location.hash.replace(/^#?\/?/, "/").split("?", 2);
  return [path, search];
};

/** The part of the address after the question mark. */
export const hashSearch = (): string => hash()[1];

export const useHashSearch: BaseSearchHook = () => useSyncExternalStore(subscribe, hashSearch);

/** Whether the last step was made with the browser's own buttons, which restore the scrolling. */
export const wentBack = (): boolean => isBack;

let home = "";

function inside(to: string): string {
  const rest = to.startsWith(home) ? to.slice(home.length) : to;
  return rest.startsWith("/") ? rest : `/${rest}`;
}

const here = (): string => (home + hash()[0]).replace(/\/$/, "");
const navigate = (to: string, options?: { replace?: boolean }): void =>
  go(inside(to), options?.replace ?? false);

/** Says below which address of the service the pages of this file would lie. */
export function startAt(path: string): void {
  home = path;
}

/**
 * The location of a page in a file, after the hash: `report.html#/queries/q1`. To the pages it looks
 * like that of the service, so that their links work in both.
 */
export const useFileLocation: BaseLocationHook = () => [
  useSyncExternalStore(subscribe, here),
  navigate,
];

/** What a link to a page says in a file. */
export const fileHref = (href: string): string => `#${inside(href)}`;
