import { useEffect, useRef } from "react";

type Props = {
  text: string;
  /** The lines that are meant, from 1, both included; 0 for none. */
  first?: number;
  last?: number;
  /** Lines to be shown as wrong. */
  wrong?: ReadonlySet<number>;
  /** How many lines around the range are shown; all without it. */
  around?: number;
  words?: readonly string[];
  label: string;
};

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function Marked({ line, words }: { line: string; words: readonly string[] }) {
  if (words.length === 0) return line;
  const parts = line.split(new RegExp(`(${words.map(escaped).join("|")})`, "gi"));
  // Every second part is a word: split keeps what its group has matched.
  return parts.map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line have no other name.
    at % 2 ? <mark key={at}>{part}</mark> : part,
  );
}

/** The words of a query that are worth marking in a text. */
export const marked = (query: string): string[] => [
  ...new Set(query.match(/[\p{L}\p{N}_]{4,}/gu) ?? []),
];

/** Text with line numbers, the meant lines set off and in view. */
export function Code({ text, first = 0, last = 0, wrong, around, words = [], label }: Props) {
  const box = useRef<HTMLElement>(null);
  const lines = text.split("\n");
  const from = around === undefined || first === 0 ? 1 : Math.max(1, first - around);
  const to =
    around === undefined || first === 0 ? lines.length : Math.min(lines.length, last + around);
  useEffect(() => {
    const meant = box.current?.querySelector<HTMLElement>(".here, .wrong");
    if (meant && box.current) box.current.scrollTop = meant.offsetTop - box.current.offsetTop - 40;
  });
  return (
    <section className="code" ref={box} tabIndex={0} aria-label={label}>
      <ol>
        {lines.slice(from - 1, to).map((line, at) => {
          const number = from + at;
          const here = number >= first && number <= last;
          return (
            <li
              key={number}
              data-line={number}
              className={wrong?.has(number) ? "wrong" : here ? "here" : undefined}
            >
              <Marked line={line} words={words} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}
