import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import type { ScoreMatrix } from "@/api/types";
import { useTheme } from "@/parts/theme";
import { useShowTip } from "@/parts/tip";
import { score } from "@/words/format";
import { Figure } from "./Figure";
import { type HeatOrder, LEVELS, level, ordered } from "./heat";
import { nameLines } from "./names";

// A line of a name, and the characters that it has room for.
const LINE = 18;
const ROOM = 22;
// Few runs have high rows, so that a cell can be seen and hit; many are as low as their names.
const HEIGHT = 320;
const HIGHEST = 44;

type Props = {
  matrix: ScoreMatrix;
  /** The name of the measure. */
  label: string;
  names: ReadonlyMap<string, string>;
  order: HeatOrder;
  onOpen: (query: string, run: string) => void;
};

/**
 * Every query in every run: a row per run, a column per query, on a canvas, so that a thousand queries
 * times fifty runs cost nothing. Arrows move a cursor, Enter opens the query.
 */
export function Heatmap({ matrix, label, names, order, onOpen }: Props) {
  const { queries, texts, runs, values } = matrix;
  const canvas = useRef<HTMLCanvasElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const showTip = useShowTip();
  const theme = useTheme();
  const [cursor, setCursor] = useState<{ column: number; run: number } | null>(null);
  const columns = useMemo(() => ordered(values, order), [values, order]);
  const lines = runs.map((run) => nameLines(names.get(run) ?? run, ROOM).length);
  const usual = Math.min(HIGHEST, Math.floor(HEIGHT / runs.length));
  const row = Math.max(usual, LINE * Math.max(1, ...lines));
  const [width, setWidth] = useState(1000);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the legend's colours.
  useEffect(() => {
    const pen = canvas.current?.getContext("2d");
    if (!pen || !legend.current) return;
    const swatches = [...legend.current.querySelectorAll(".swatch")];
    const inks = swatches.map((one) => getComputedStyle(one).backgroundColor);
    const missing = inks.at(-1) ?? "";
    const edge = (at: number) => Math.round((at * width) / columns.length);
    const gap = width / columns.length > 5 ? 1 : 0;
    pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
    columns.forEach((query, at) => {
      values[query]?.forEach((value, run) => {
        pen.fillStyle = (value === null ? missing : inks[level(value)]) ?? missing;
        pen.fillRect(edge(at), run * row, Math.max(1, edge(at + 1) - edge(at) - gap), row - 1);
      });
    });
  }, [values, columns, width, row, theme]);
  // As many pixels as it has room for: scaled cells would have gaps of different widths.
  useEffect(() => {
    const drawing = canvas.current;
    if (!drawing || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => setWidth(Math.max(1, drawing.clientWidth)));
    observer.observe(drawing);
    return () => observer.disconnect();
  }, []);

  const told = (column: number, run: number): string => {
    const query = columns[column] ?? 0;
    const name = names.get(runs[run] ?? "") ?? "";
    return `${texts[query]}\n${name}: ${score(values[query]?.[run])}`;
  };
  const under = (event: MouseEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns.length);
    const run = Math.floor(((event.clientY - box.top) / box.height) * runs.length);
    return column >= 0 && column < columns.length && run >= 0 && run < runs.length
      ? { column, run }
      : null;
  };
  const open = ({ column, run }: { column: number; run: number }) =>
    onOpen(queries[columns[column] ?? 0] ?? "", runs[run] ?? "");
  const onKeyDown = (event: KeyboardEvent) => {
    const here = cursor ?? { column: 0, run: 0 };
    const [dx, dy] = {
      ArrowRight: [1, 0],
      ArrowLeft: [-1, 0],
      ArrowDown: [0, 1],
      ArrowUp: [0, -1],
    }[event.key] ?? [0, 0];
    if (event.key === "Enter" && cursor) open(cursor);
    if (!dx && !dy) return;
    event.preventDefault();
    setCursor({
      column: Math.max(0, Math.min(columns.length - 1, here.column + (dx ?? 0))),
      run: Math.max(0, Math.min(runs.length - 1, here.run + (dy ?? 0))),
    });
  };

  const rows = () =>
    columns.map((query) => [
      texts[query] ?? "",
      ...(values[query] ?? []).map((value) => score(value)),
    ]);
  return (
    <Figure
      title={`${label} of every query in every run`}
      means="One row per run, one column per query; a stronger colour is better. Click a cell to open the query."
      table={{ head: ["Query", ...runs.map((run) => names.get(run) ?? run)], rows }}
    >
      <div className="heat">
        <div className="names" style={{ gridAutoRows: row }} aria-hidden="true">
          {runs.map((run) => (
            <span key={run}>{names.get(run)}</span>
          ))}
        </div>
        <div className="cells">
          {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a map with a cursor. */}
          <canvas
            ref={canvas}
            width={width}
            height={runs.length * row}
            style={{ height: runs.length * row }}
            tabIndex={0}
            role="application"
            aria-label={`Heat map of ${columns.length} queries and ${runs.length} runs; arrows move, Enter opens`}
            onPointerMove={(event) => {
              const at = under(event);
              showTip(at && told(at.column, at.run), event);
            }}
            onPointerLeave={() => showTip(null)}
            onClick={(event) => {
              const at = under(event);
              if (at) open(at);
            }}
            onKeyDown={onKeyDown}
          />
          {cursor && (
            <div
              className="cursor"
              style={{
                left: `${(100 * cursor.column) / columns.length}%`,
                width: `${100 / columns.length}%`,
                top: cursor.run * row,
                height: row - 1,
              }}
            />
          )}
        </div>
      </div>
      <p className="soft" aria-live="polite">
        {cursor ? told(cursor.column, cursor.run) : ""}
      </p>
      <ul className="keys" ref={legend}>
        {LEVELS.map((name, at) => (
          <li key={name}>
            <span className={`swatch ${name}`} />
            {["0", "< 0.25", "< 0.5", "< 0.75", "< 1", "1"][at]}
          </li>
        ))}
        <li>
          <span className="swatch hx" />
          no score
        </li>
      </ul>
    </Figure>
  );
}
