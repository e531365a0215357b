import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useKeys } from "@/parts/keys";
import { Account } from "./Account";
import { KeyHelp } from "./KeyHelp";
import { Palette } from "./Palette";
import { ThemeButton } from "./ThemeButton";
import { TokenDialog } from "./TokenDialog";

const PLACES = [
  { to: "/benchmarks", label: "Benchmarks" },
  { to: "/datasets", label: "Datasets" },
  { to: "/collections", label: "Collections" },
  { to: "/trend", label: "Trend" },
] as const;

/** The bar on top, the page below it, and what opens from anywhere. */
export function Layout({ children }: { children: ReactNode }) {
  const [location] = useLocation();
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  const main = useRef<HTMLElement>(null);
  useKeys({
    "mod+k": () => setOpen("palette"),
    "/": () => setOpen("palette"),
    "?": () => setOpen("keys"),
  });
  // A new page is read from its beginning, by eyes and by screen readers.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the location is what has changed.
  useEffect(() => {
    main.current?.focus();
    window.scrollTo?.(0, 0);
  }, [location]);
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar">
        <Link href="/benchmarks" className="brand">
          <img src="/favicon.svg" alt="" width={22} height={22} />
          Karat
        </Link>
        <nav aria-label="Main">
          {PLACES.map(({ to, label }) => (
            <Link key={to} href={to} aria-current={location.startsWith(to) ? "page" : undefined}>
              {label}
            </Link>
          ))}
        </nav>
        <button type="button" className="button push" onClick={() => setOpen("palette")}>
          Jump to… <kbd>Ctrl K</kbd>
        </button>
        <Account />
        <ThemeButton />
      </header>
      <main id="content" ref={main} tabIndex={-1}>
        {children}
      </main>
      {open === "palette" && <Palette onClose={() => setOpen(null)} />}
      {open === "keys" && <KeyHelp onClose={() => setOpen(null)} />}
      <TokenDialog />
    </>
  );
}
