/** The height of a line of a name. */
const LINE = 14;
const PADDING = 11;

/** A name in lines of at most *room* characters; it is broken between its parts, never shortened. */
export function nameLines(name: string, room: number): string[] {
  const parts = name.match(/[^\s,;_\-/()=.]*[\s,;_\-/()=.]*/g) ?? [name];
  const found: string[] = [];
  let line = "";
  for (let part of parts) {
    if (line && (line + part.trimEnd()).length > room) {
      found.push(line.trimEnd());
      line = "";
    }
    while (part.length > room) {
      found.push(part.slice(0, room));
      part = part.slice(room);
    }
    line += part;
  }
  if (line.trim() || found.length === 0) found.push(line.trimEnd());
  return found;
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
