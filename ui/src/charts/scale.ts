/** From values to places on the page. */
export type Scale = { (value: number): number; ticks: readonly number[] };

const STEPS = [1, 2, 2.5, 5, 10];

function step(span: number, about: number): number {
  const raw = span / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = STEPS.find((one) => one * power >= raw * 0.999) ?? 10;
  return factor * power;
}

/** Round ticks that cover *low* to *high*. */
export function ticks(low: number, high: number, about = 5): number[] {
  if (!(high > low)) return [low];
  const by = step(high - low, about);
  const first = Math.floor(low / by + 1e-9);
  const last = Math.ceil(high / by - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) =>
    Number(((first + at) * by).toPrecision(12)),
  );
}

/** A scale whose ends are round numbers. */
export function linear(low: number, high: number, from: number, to: number, about = 5): Scale {
  const marks = ticks(low, high, about);
  const start = marks[0] ?? 0;
  const end = marks.at(-1) ?? 1;
  const span = end - start || 1;
  return Object.assign((value: number) => from + ((value - start) / span) * (to - from), {
    ticks: marks,
  });
}

/** A scale of times: equal steps are equal factors; marked at 1, 2 and 5 of each power. */
export function logarithmic(low: number, high: number, from: number, to: number): Scale {
  const start = Math.log10(low) - 0.08;
  const end = Math.log10(Math.max(high, low * 1.5)) + 0.08;
  const marks: number[] = [];
  for (let power = Math.floor(start); power <= Math.ceil(end); power++) {
    for (const factor of [1, 2, 5]) {
      const at = Math.log10(factor) + power;
      if (at >= start && at <= end) marks.push(Number((factor * 10 ** power).toPrecision(3)));
    }
  }
  // Within one power there are too few of these; round steps say more.
  const inside = (value: number) => {
    const at = Math.log10(value);
    return at >= start && at <= end;
  };
  const few =
    marks.length < 3 ? ticks(low, high, 3).filter((one) => one > 0 && inside(one)) : marks;
  return Object.assign(
    (value: number) => from + ((Math.log10(value) - start) / (end - start)) * (to - from),
    { ticks: few },
  );
}

/** Those of some values, in order, whose places are at least *room* apart; the first is kept. */
export function apart(
  values: readonly number[],
  place: (value: number) => number,
  room: number,
): number[] {
  const kept: number[] = [];
  for (const value of values) {
    const last = kept.at(-1);
    if (last === undefined || place(value) - place(last) >= room) kept.push(value);
  }
  return kept;
}
