import { type ReactNode, useEffect, useRef } from "react";
import { Link, Route, Router, Switch, useLocation } from "wouter";
import type { Index } from "@/api/embedded";
import { NotFound } from "@/app/NotFound";
import { ThemeButton } from "@/app/ThemeButton";
import { ComparePage } from "@/pages/compare/ComparePage";
import { QueryPage } from "@/pages/query/QueryPage";
import { RunPage } from "@/pages/results/RunPage";
import { TipProvider } from "@/parts/tip";
import { FileResults } from "./FileResults";
import { HitCard } from "./HitCard";
import { fileHref, useFileLocation, useHashSearch, wentBack } from "./location";

/** The page inside a report file: the results, and what they lead to. */
export function FileApp({ index }: { index: Index }) {
  const home = `/benchmarks/${index.subject}`;
  return (
    <Router hook={useFileLocation} searchHook={useHashSearch} hrefs={fileHref}>
      <TipProvider>
        <Frame home={home} isCompared={Object.keys(index.blocks).some(isComparison)}>
          <Switch>
            <Route path="/benchmarks/:id">
              <FileResults index={index} />
            </Route>
            <Route path="/benchmarks/:id/runs/:run">
              {({ id, run }) => <RunPage id={id} run={run} />}
            </Route>
            <Route path="/benchmarks/:id/compare">{({ id }) => <ComparePage id={id} />}</Route>
            <Route path="/benchmarks/:id/queries/:query">
              {({ id, query }) => (
                <QueryPage id={id} query={decodeURIComponent(query)} reader={HitCard} />
              )}
            </Route>
            <Route>
              <NotFound to={home} label="Results" />
            </Route>
          </Switch>
        </Frame>
      </TipProvider>
    </Router>
  );
}

const isComparison = (key: string): boolean => key.includes("/comparison?");

type FrameProps = { home: string; isCompared: boolean; children: ReactNode };

function Frame({ home, isCompared, children }: FrameProps) {
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  // A new page is read from its beginning, by eyes and by screen readers.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the location is what has changed.
  useEffect(() => {
    main.current?.focus({ preventScroll: true });
    if (!wentBack()) window.scrollTo?.(0, 0);
  }, [location]);
  return (
    <>
      <header className="bar">
        <Link href={home} className="brand">
          Karat
        </Link>
        <nav aria-label="Main">
          <Link href={home} aria-current={location === home ? "page" : undefined}>
            Results
          </Link>
          {isCompared && (
            <Link
              href={`${home}/compare`}
              aria-current={location === `${home}/compare` ? "page" : undefined}
            >
              Compare runs
            </Link>
          )}
        </nav>
        <span className="push" />
        <ThemeButton />
      </header>
      <main id="content" ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
