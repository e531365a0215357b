import type { ReactNode } from "react";
import { ApiError } from "@/api/client";

/** What went wrong, one line per problem, with the reference that the server's log knows. */
export function Problem({ of }: { of: unknown }) {
  if (!of) return null;
  const lines = of instanceof Error ? of.message.split("\n") : [String(of)];
  return (
    <div className="note bad" role="alert">
      {lines.length === 1 ? (
        <p>{lines[0]}</p>
      ) : (
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {of instanceof ApiError && of.reference && <small>{of.reference}</small>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

type Asked<T> = { data: T | undefined; error: unknown; isPending: boolean };

/** What was asked for once it is there, else that it is being loaded or what went wrong. */
export function Loaded<T>({ of, children }: { of: Asked<T>; children: (data: T) => ReactNode }) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <Problem of={of.error} />;
  return (
    <p className="soft" role="status">
      Loading…
    </p>
  );
}
