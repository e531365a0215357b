import { useEffect, useRef } from "react";

type Handlers = Record<string, (event: KeyboardEvent) => void>;

const TYPING = "input, textarea, select, [contenteditable]";

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(TYPING);
}

/**
 * Calls a handler for a key by its name in lower case, `mod+k` with Ctrl or Cmd. Plain keys rest while someone
 * types or a dialog is open.
 */
export function useKeys(handlers: Handlers): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const modified = event.ctrlKey || event.metaKey;
      if (event.altKey || event.defaultPrevented) return;
      if (!modified && (isTyping(event.target) || document.querySelector("dialog[open]"))) return;
      const key = event.key.toLowerCase();
      const handler = latest.current[modified ? `mod+${key}` : key];
      if (!handler) return;
      event.preventDefault();
      handler(event);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
