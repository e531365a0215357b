import { useShowTip } from "@/parts/tip";
import { score } from "@/words/format";
import { XAxis, YAxis } from "./axes";
import { Drawing, useWidth } from "./Drawing";
import { Figure } from "./Figure";
import { apart, linear } from "./scale";

export type Series = {
  id: string;
  name: string;
  points: readonly { x: number; y: number; bounds?: readonly number[]; told?: string }[];
};

const HEIGHT = 270;
const LEFT = 44;
const BOTTOM = HEIGHT - 34;
// Eight colours can be told apart; who comes later shares grey.
const COLOURS = 8;
// As wide as a letter below the axis, and the gap between two names there.
const LETTER = 7;
const GAP = 8;

export const colour = (at: number): string => (at < COLOURS ? `c${at}` : "cx");

type Props = {
  title: string;
  means: string;
  caption?: string;
  series: readonly Series[];
  xLabel: string;
  /** What happened at a place of the horizontal axis. */
  marks?: readonly { x: number; text: string }[];
  /** What stands below a place of the horizontal axis. */
  format?: (x: number) => string;
};

/** Lines over one horizontal axis; a point with bounds has its interval as a band. */
export function Lines({
  title,
  means,
  caption,
  series,
  xLabel,
  marks = [],
  format = String,
}: Props) {
  const showTip = useShowTip();
  const [box, width] = useWidth();
  const all = series.flatMap(({ points }) => points);
  const xs = [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
  const ends = [xs[0] ?? 0, xs.at(-1) ?? 1] as const;
  const span = ends[1] - ends[0] || 1;
  const at = (value: number) => LEFT + 8 + ((value - ends[0]) / span) * (width - LEFT - 40);
  const room = GAP + LETTER * Math.max(0, ...xs.map((value) => format(value).length));
  const x = Object.assign(at, { ticks: apart(xs, at, room) });
  const high = Math.max(0.01, ...all.map(({ y, bounds }) => bounds?.[1] ?? y));
  const low = Math.min(high, ...all.map(({ y, bounds }) => bounds?.[0] ?? y));
  const y = linear(low > high / 2 && low < high ? low : 0, high, BOTTOM, 10, 4);
  const rows = () =>
    series.flatMap(({ name, points }) =>
      points.map((point) => [name, format(point.x), score(point.y)]),
    );
  return (
    <Figure
      title={title}
      means={means}
      caption={caption}
      table={{ head: ["Run", xLabel, "Mean"], rows }}
    >
      <Drawing box={box} title={title} width={width} height={HEIGHT}>
        <XAxis scale={x} from={10} to={BOTTOM} format={format} />
        <YAxis scale={y} from={LEFT} to={width - 8} />
        <text className="tick" x={width - 8} y={HEIGHT - 4} textAnchor="end">
          {xLabel}
        </text>
        {marks.map(({ x: at, text }) => (
          <g
            key={`${at} ${text}`}
            onPointerMove={(event) => showTip(text, event)}
            onPointerLeave={() => showTip(null)}
          >
            <line className="zero" x1={x(at)} x2={x(at)} y1={10} y2={BOTTOM} />
            <path className="remark" d={`M${x(at) - 5} 2h10l-5 8z`} />
          </g>
        ))}
        {series.map((one, number) => (
          <g key={one.id} className={colour(number)}>
            <path className="band" d={band(one, x, y)} />
            <path
              className={`line ${colour(number)}`}
              d={one.points.map((p, at) => `${at ? "L" : "M"}${x(p.x)} ${y(p.y)}`).join("")}
            />
            {one.points.map((point, at) => (
              <circle
                // biome-ignore lint/suspicious/noArrayIndexKey: two runs may lie at one place.
                key={at}
                className="dot"
                cx={x(point.x)}
                cy={y(point.y)}
                r={4}
                onPointerMove={(event) =>
                  showTip(
                    point.told ?? `${one.name}\n${xLabel} ${format(point.x)}: ${score(point.y)}`,
                    event,
                  )
                }
                onPointerLeave={() => showTip(null)}
              />
            ))}
          </g>
        ))}
      </Drawing>
      <ul className="keys">
        {series.map(({ id, name }, number) => (
          <li key={id}>
            <svg viewBox="0 0 26 10" className={`chart ${colour(number)}`} aria-hidden="true">
              <path className={`line ${colour(number)}`} d="M0 5H26" />
            </svg>
            {name}
          </li>
        ))}
      </ul>
    </Figure>
  );
}

function band({ points }: Series, x: (at: number) => number, y: (at: number) => number): string {
  const known = points.filter(({ bounds }) => bounds);
  if (known.length < 2) return "";
  const there = known.map((p) => `${x(p.x)} ${y(p.bounds?.[1] ?? p.y)}`);
  const back = known.map((p) => `${x(p.x)} ${y(p.bounds?.[0] ?? p.y)}`).reverse();
  return `M${[...there, ...back].join("L")}Z`;
}
