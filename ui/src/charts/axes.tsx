import { apart, type Scale } from "./scale";

type Along = { scale: Scale; from: number; to: number; format?: (value: number) => string };

// As wide as a letter below the axis, and the gap between two values there.
const LETTER = 6.5;
const GAP = 6;

/** Fine rules across the drawing, with values below those that are far enough apart. */
export function XAxis({ scale, from, to, format = String }: Along) {
  const longest = Math.max(0, ...scale.ticks.map((tick) => format(tick).length));
  const told = new Set(apart(scale.ticks, scale, longest * LETTER + GAP));
  return scale.ticks.map((tick) => (
    <g key={tick}>
      <line className="rule" x1={scale(tick)} x2={scale(tick)} y1={from} y2={to} />
      {told.has(tick) && (
        <text className="tick" x={scale(tick)} y={to + 15} textAnchor="middle">
          {format(tick)}
        </text>
      )}
    </g>
  ));
}

/** Fine rules across the drawing, each with its value at the left. */
export function YAxis({ scale, from, to, format = String }: Along) {
  return scale.ticks.map((tick) => (
    <g key={tick}>
      <line className="rule" y1={scale(tick)} y2={scale(tick)} x1={from} x2={to} />
      <text className="tick" x={from - 6} y={scale(tick) + 4} textAnchor="end">
        {format(tick)}
      </text>
    </g>
  ));
}
