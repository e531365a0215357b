type Listener = (needed: boolean) => void;
const listeners = new Set<Listener>();

function tell(needed: boolean): void {
  for (const listener of listeners) listener(needed);
}

/** Whether the server lets this browser in. One on the loopback asks nobody for a token. */
export const session = {
  /** The server wants a token, or another one. */
  refused: (): void => tell(true),
  opened: (): void => tell(false),
  listen(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
