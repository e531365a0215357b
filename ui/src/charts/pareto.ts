export type Point = { id: string; name: string; latency: number; value: number; best: boolean };

type Placed = { id: string; name: string; x: number; y: number };
type Label = { id: string; text: string; x: number; y: number; anchor: "start" | "end" };

const LETTER = 6.6;
const LINE = 14;
const BESIDE = 10;

/** The names of points beside them, on the side with more room, moved apart where they would meet. */
export function labelled(points: readonly Placed[], width: number): Label[] {
  const taken: { from: number; to: number; y: number }[] = [];
  return [...points]
    .sort((a, b) => a.y - b.y)
    .map(({ id, name, x, y }) => {
      const long = name.length * LETTER;
      const anchor = x + BESIDE + long > width && x > width / 2 ? "end" : "start";
      const from = anchor === "start" ? x + BESIDE : x - BESIDE - long;
      let at = y - 8;
      const meets = () =>
        taken.some((one) => Math.abs(one.y - at) < LINE && one.from < from + long && from < one.to);
      while (meets()) at += 2;
      taken.push({ from, to: from + long, y: at });
      return { id, text: name, x: anchor === "start" ? x + BESIDE : x - BESIDE, y: at, anchor };
    });
}
