import { memo, useEffect, useMemo, useRef } from "react";
import type { Piece } from "./grammars";
import { useSyntax } from "./syntax";
import "@/styles/code.css";

type Props = {
  text: string;
  /** What it is written in, as the service names it; without it there are no colours. */
  language?: string;
  /** The lines that are meant, from 1, both included; 0 for none. */
  first?: number;
  last?: number;
  /** Lines to be shown as wrong. */
  wrong?: ReadonlySet<number>;
  /** How many lines around the range are shown; all without it. */
  around?: number;
  /** Its words are marked in the text. */
  query?: string;
  label: string;
};

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** What finds the words of a query that are worth marking in a text; null where there are none. */
function finder(query: string): RegExp | null {
  const words = query.match(/[\p{L}\p{N}_]{4,}/gu);
  return words && new RegExp(`(${words.map(escaped).join("|")})`, "gi");
}

function Marked({ text, words }: { text: string; words: RegExp | null }) {
  if (!words) return text;
  // Every second part is a word: split keeps what its group has matched.
  return text.split(words).map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line have no other name.
    at % 2 ? <mark key={at}>{part}</mark> : part,
  );
}

type LineProps = {
  number: number;
  pieces: readonly Piece[];
  words: RegExp | null;
  tone: string | undefined;
};

const Line = memo(({ number, pieces, words, tone }: LineProps) => (
  <li data-line={number} className={tone}>
    {pieces.map(({ text, kind }, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line have no other name.
      <span key={at} className={kind}>
        <Marked text={text} words={words} />
      </span>
    ))}
  </li>
));

/** Text with line numbers, coloured by its language, the meant lines set off and in view. */
export function Code(props: Props) {
  const { text, language = "", first = 0, last = 0, wrong, around, query = "", label } = props;
  const box = useRef<HTMLElement>(null);
  const plain = useMemo(() => text.split("\n").map((line) => [{ text: line }]), [text]);
  const lines = useSyntax(text, language) ?? plain;
  const words = useMemo(() => finder(query), [query]);
  const from = around === undefined || first === 0 ? 1 : Math.max(1, first - around);
  const to =
    around === undefined || first === 0 ? lines.length : Math.min(lines.length, last + around);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text or range comes into view.
  useEffect(() => {
    const meant = box.current?.querySelector<HTMLElement>(".here, .wrong");
    if (meant && box.current) box.current.scrollTop = meant.offsetTop - box.current.offsetTop - 40;
  }, [text, first, last]);
  return (
    <section className="code" ref={box} tabIndex={0} aria-label={label}>
      <ol>
        {lines.slice(from - 1, to).map((pieces, at) => {
          const number = from + at;
          const here = number >= first && number <= last;
          return (
            <Line
              key={number}
              number={number}
              pieces={pieces}
              words={words}
              tone={wrong?.has(number) ? "wrong" : here ? "here" : undefined}
            />
          );
        })}
      </ol>
    </section>
  );
}
