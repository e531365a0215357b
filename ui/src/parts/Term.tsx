import type { ReactNode } from "react";
import { useTip } from "./tip";

/** A word whose definition appears on hover and on focus. */
export function Term({ children, means }: { children: ReactNode; means: string }) {
  const tip = useTip(means);
  // A definition that is still being loaded.
  if (!means) return children;
  return (
    <span className="term" tabIndex={0} {...tip}>
      {children}
    </span>
  );
}
