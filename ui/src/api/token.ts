const KEY = "karat.token";

type Listener = (needed: boolean) => void;
const listeners = new Set<Listener>();

function tell(needed: boolean): void {
  for (const listener of listeners) listener(needed);
}

/** The access token of this tab. A server on loopback asks for none. */
export const token = {
  get: (): string | null => sessionStorage.getItem(KEY),
  set(value: string): void {
    sessionStorage.setItem(KEY, value);
    tell(false);
  },
  /** The server wants a token, or another one. */
  refused: (): void => tell(true),
  listen(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
