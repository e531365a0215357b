import { useShowTip } from "@/parts/tip";
import { score } from "@/words/format";
import { XAxis, YAxis } from "./axes";
import { GREY } from "./colours";
import { Drawing, useWidth } from "./Drawing";
import { Figure } from "./Figure";
import { LineKeys } from "./LineKeys";
import { apart, linear } from "./scale";
import type { Line } from "./together";

/** A line with the class of its colour. */
export type Series = Line & { shade: string };

const HEIGHT = 270;
const LEFT = 44;
const BOTTOM = HEIGHT - 34;
// As wide as a letter below the axis, and the gap between two names there.
const LETTER = 7;
const GAP = 8;

// The bands of more lines hide each other.
const MOST_BANDS = 2;

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
  /** What a click on the name of a line does. */
  onChoose?: (id: string) => void;
};

/**
 * Lines over one horizontal axis, grey ones behind the others. Where one or two have a colour, a point
 * with bounds has its interval as a band.
 */
export function Lines({
  title,
  means,
  caption,
  series,
  xLabel,
  marks = [],
  format = String,
  onChoose,
}: Props) {
  const showTip = useShowTip();
  const [box, width] = useWidth();
  const all = series.flatMap(({ points }) => points);
  const coloured = series.filter(({ shade }) => shade !== GREY);
  const drawn = [...series.filter(({ shade }) => shade === GREY), ...coloured];
  const hasBands = coloured.length <= MOST_BANDS;
  const xs = [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
  const ends = [xs[0] ?? 0, xs.at(-1) ?? 1] as const;
  const span = ends[1] - ends[0] || 1;
  const at = (value: number) => LEFT + 8 + ((value - ends[0]) / span) * (width - LEFT - 40);
  const room = GAP + LETTER * Math.max(0, ...xs.map((value) => format(value).length));
  const x = Object.assign(at, { ticks: apart(xs, at, room) });
  const heights = drawn.flatMap(({ shade, points }) =>
    points.flatMap((p) => (hasBands && shade !== GREY && p.bounds ? [p.y, ...p.bounds] : [p.y])),
  );
  const high = Math.max(0.01, ...heights);
  const low = Math.min(high, ...heights);
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
        {drawn.map((one) => (
          <g key={one.id} className={one.shade}>
            {hasBands && one.shade !== GREY && <path className="band" d={band(one, x, y)} />}
            <path
              className={`line ${one.shade}`}
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
      <LineKeys lines={series} onChoose={onChoose} />
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
