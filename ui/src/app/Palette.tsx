import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useJumps } from "@/api/system";
import type { Jump } from "@/api/types";

type Choice = { key: string; title: string; detail: string; to: string };

const PAGES: readonly Choice[] = [
  { key: "benchmarks", title: "Benchmarks", detail: "page", to: "/benchmarks" },
  { key: "new", title: "New benchmark", detail: "page", to: "/benchmarks/new" },
  { key: "compare", title: "Compare two benchmarks", detail: "page", to: "/compare" },
  { key: "datasets", title: "Datasets", detail: "page", to: "/datasets" },
  { key: "collections", title: "Collections", detail: "page", to: "/collections" },
  { key: "trend", title: "Trend", detail: "page", to: "/trend" },
];

function choice({ kind, id, title, detail }: Jump): Choice {
  const key = `${kind} ${id} ${detail}`;
  // The detail of a query is the id of its dataset, where it is found by its text.
  if (kind === "query") {
    return { key, title, detail: kind, to: `/datasets/${detail}?q=${encodeURIComponent(title)}` };
  }
  if (kind === "run") return { key, title, detail: kind, to: `/benchmarks/${detail}/runs/${id}` };
  return { key, title, detail: `${kind} · ${detail}`, to: `/${kind}s/${id}` };
}

/** A field that jumps anywhere by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  const asked = typed.trim();
  const words = asked.toLowerCase();
  // What the server found for the letters before may no longer fit; Enter must not take it.
  const fits = ({ id, title }: Jump) =>
    title.toLowerCase().includes(words) || id.toLowerCase().startsWith(words);
  const jumps = useJumps(asked).data?.results ?? [];
  const found: Choice[] = [
    ...PAGES.filter(({ title }) => title.toLowerCase().includes(words)),
    ...(asked ? jumps.filter(fits) : []).map(choice),
  ];
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => box.current?.showModal(), []);

  const go = (one: Choice | undefined) => {
    if (!one) return;
    box.current?.close();
    navigate(one.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((chosen + step + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") go(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={box} className="palette" aria-label="Jump to" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Jump to"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length ? `${id}-${chosen}` : undefined}
        placeholder="A benchmark, run, dataset, collection or query"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={`${id}-list`} aria-label="Matches" tabIndex={-1}>
        {found.map((one, number) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above hears the keys.
          <div
            key={one.key}
            id={`${id}-${number}`}
            role="option"
            tabIndex={-1}
            aria-selected={number === chosen}
            onClick={() => go(one)}
          >
            <span className="anywhere">{one.title}</span>
            <small>{one.detail}</small>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p className="soft" role="status">
          No match.
        </p>
      )}
    </dialog>
  );
}
