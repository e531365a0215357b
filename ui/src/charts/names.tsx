/** The height of a line of a name. */
const LINE = 14;
const PADDING = 11;

// A word with what separates it from the next one.
const WORDS = /[^\s,;_\-/()=.]*[\s,;_\-/()=.]*/g;

/** A name in lines of at most *room* characters; it is broken between its parts, never shortened. */
export function nameLines(name: string, room: number): string[] {
  const parts = name.match(WORDS) ?? [name];
  const found: string[] = [];
  let line = "";
  for (let part of parts) {
    if (line && (line + part.trimEnd()).length > room) {
      found.push(line.trimEnd());
      line = "";
    }
    while (part.trimEnd().length > room) {
      found.push(part.slice(0, room));
      part = part.slice(room);
    }
    line += part;
  }
  if (line.trim() || found.length === 0) found.push(line.trimEnd());
  return found;
}

// As wide as a letter of a name, and the gap between a name and its row.
const LETTER = 6.6;
const GAP = 8;

/** The room for names at the left of a chart: a third of it, more for a word that needs more. */
export function nameRoom(names: readonly string[], width: number): { left: number; room: number } {
  const words = names.flatMap((name) => name.match(WORDS) ?? [name]);
  const longest = Math.max(0, ...words.map((word) => word.trimEnd().length)) * LETTER + GAP;
  const usual = Math.min(0.31 * width, 160);
  const left = Math.round(Math.max(usual, Math.min(longest, 0.45 * width)));
  return { left, room: Math.max(4, Math.floor((left - GAP) / LETTER)) };
}

export type Row = { top: number; height: number; middle: number };

/** Where the row of each name lies, high enough for all of its lines, and where the last one ends. */
export function nameRows(names: readonly string[], room: number): { rows: Row[]; bottom: number } {
  let bottom = 6;
  const rows = names.map((name) => {
    const height = nameLines(name, room).length * LINE + PADDING;
    const row = { top: bottom, height, middle: bottom + height / 2 };
    bottom += height;
    return row;
  });
  return { rows, bottom };
}

type Props = { name: string; room: number; x: number; y: number; anchor?: "start" | "end" };

/** A name of any length beside a row whose middle is at *y*. */
export function Name({ name, room, x, y, anchor = "end" }: Props) {
  const lines = nameLines(name, room);
  const first = y + 4 - ((lines.length - 1) * LINE) / 2;
  return (
    <text textAnchor={anchor}>
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place.
        <tspan key={at} x={x} y={first + at * LINE}>
          {line}
        </tspan>
      ))}
    </text>
  );
}
