import type { Scale } from "./scale";

type Along = { scale: Scale; from: number; to: number; format?: (value: number) => string };

/** Fine rules across the drawing, each with its value below. */
export function XAxis({ scale, from, to, format = String }: Along) {
  return scale.ticks.map((tick) => (
    <g key={tick}>
      <line className="rule" x1={scale(tick)} x2={scale(tick)} y1={from} y2={to} />
      <text className="tick" x={scale(tick)} y={to + 15} textAnchor="middle">
        {format(tick)}
      </text>
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
