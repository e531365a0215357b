/** A line before it has a colour. */
export type Line = {
  id: string;
  name: string;
  points: readonly { x: number; y: number; bounds?: readonly number[]; told?: string }[];
};

/**
 * Lines with those that lie on another one as part of it, under all of their names; the one that
 * ends highest is first, of these the longest.
 */
export function together<Some extends Line>(lines: readonly Some[]): Some[] {
  const end = ({ points }: Line) => points.at(-1)?.y ?? 0;
  const places = ({ points }: Line) => points.map(({ x, y }) => `${x} ${y}`);
  const drawn: { line: Some; names: string[]; covered: Set<string> }[] = [];
  for (const line of [...lines].sort((a, b) => b.points.length - a.points.length)) {
    const over = drawn.find(({ covered }) => places(line).every((place) => covered.has(place)));
    if (over) over.names.push(line.name);
    else drawn.push({ line, names: [line.name], covered: new Set(places(line)) });
  }
  return drawn
    .map(({ line, names }) => ({ ...line, name: names.join(", ") }))
    .sort((a, b) => end(b) - end(a));
}
