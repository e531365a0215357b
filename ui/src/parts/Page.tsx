import { type ReactNode, useEffect } from "react";
import { Link } from "wouter";

type Crumb = { label: string; to: string };
type Props = {
  title: string;
  /** What the tab of the browser says, if not the title. */
  tab?: string;
  crumbs?: readonly Crumb[];
  below?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** A page: where it lies, what it is called, what can be done with it. */
export function Page({ title, tab, crumbs = [], below, actions, children }: Props) {
  useEffect(() => {
    document.title = tab ?? `${title} · Karat`;
  }, [title, tab]);
  return (
    <>
      <div className="head">
        <div className="titles">
          {crumbs.length > 0 && (
            <nav className="crumbs" aria-label="You are here">
              {crumbs.map(({ label, to }) => (
                <span key={to}>
                  <Link href={to}>{label}</Link> /
                </span>
              ))}
            </nav>
          )}
          <h1>{title}</h1>
          {below}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </>
  );
}
