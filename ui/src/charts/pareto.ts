export type Point = {
  id: string;
  name: string;
  latency: number;
  value: number;
  /** The ends of the interval of *value*. */
  bounds: readonly number[] | undefined;
  /** The class of its colour. */
  shade: string;
};

/** The values that a chart of *points* covers: all intervals, so that noise looks like noise. */
export function covered(points: readonly Pick<Point, "value" | "bounds">[]): [number, number] {
  const low = Math.min(...points.map(({ value, bounds }) => bounds?.[0] ?? value));
  const high = Math.max(...points.map(({ value, bounds }) => bounds?.[1] ?? value));
  return [low, Math.max(high, low + 0.01)];
}

type Placed = { id: string; name: string; x: number; y: number };
type Label = { id: string; text: string; x: number; y: number; anchor: "start" | "end" };

const LETTER = 6.6;
const LINE = 14;
const BESIDE = 10;

/** A name that is wider than the chart is cut; the tip of its point has all of it. */
function shortened(name: string, width: number): string {
  const most = Math.floor(width / LETTER);
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** The names of points beside them, on the side with more room, moved apart where they would meet. */
export function labelled(points: readonly Placed[], width: number): Label[] {
  const taken: { from: number; to: number; y: number }[] = [];
  return [...points]
    .sort((a, b) => a.y - b.y)
    .map(({ id, name, x, y }) => {
      const text = shortened(name, width);
      const long = text.length * LETTER;
      const anchor = x + BESIDE + long > width && x > width / 2 ? "end" : "start";
      const beside = anchor === "start" ? x + BESIDE : x - BESIDE - long;
      // A name that fits on neither side lies above its point.
      const from = Math.max(0, Math.min(beside, width - long));
      let at = y - 8;
      const meets = () =>
        taken.some((one) => Math.abs(one.y - at) < LINE && one.from < from + long && from < one.to);
      while (meets()) at += 2;
      taken.push({ from, to: from + long, y: at });
      return { id, text, x: anchor === "start" ? from : from + long, y: at, anchor };
    });
}
