import { useShowTip } from "@/parts/tip";
import { interval, milliseconds, score } from "@/words/format";
import { XAxis, YAxis } from "./axes";
import { Drawing, useWidth } from "./Drawing";
import { Figure } from "./Figure";
import { covered, labelled, type Point } from "./pareto";
import { linear, logarithmic } from "./scale";

const HEIGHT = 280;
const LEFT = 46;
// Room for a name above the highest point.
const TOP = 26;

type Props = {
  points: readonly Point[];
  /** The name of the measure. */
  label: string;
  /** The runs that no other run beats in both quality and latency, fastest first. */
  front: readonly string[];
};

/** Quality against latency; dashed steps join the runs that no other run beats in both. */
export function Pareto({ points, label, front }: Props) {
  const showTip = useShowTip();
  const [box, width] = useWidth();
  const times = points.map(({ latency }) => latency);
  const x = logarithmic(Math.min(...times), Math.max(...times), LEFT, width - 16);
  const y = linear(...covered(points), HEIGHT - 40, TOP, 4);
  const leading = front.flatMap((id) => points.filter((point) => point.id === id));
  const path = leading
    .map(({ latency, value }, at) => `${at ? "H" : "M"}${x(latency)}${at ? "V" : " "}${y(value)}`)
    .join("");
  const labels = labelled(
    points.map((point) => ({ ...point, x: x(point.latency), y: y(point.value) })),
    width,
  );
  const rows = () =>
    points.map(({ name, latency, value, bounds }) => [
      name,
      milliseconds(latency),
      score(value),
      interval(bounds as [number, number]),
    ]);
  return (
    <Figure
      title={`${label} against latency`}
      means="Higher is better, further left is faster. Latency is the median (p50) of one query, on a logarithmic scale."
      caption={`Whiskers: 95 % intervals over queries.${leading.length > 1 ? " Dashed line: no other run is both better and faster." : ""}`}
      table={{ head: ["Run", "p50", label, "95 % interval"], rows }}
    >
      <Drawing box={box} title={`${label} against latency`} width={width} height={HEIGHT}>
        <XAxis scale={x} from={TOP} to={HEIGHT - 40} format={(ms) => `${ms} ms`} />
        <YAxis scale={y} from={LEFT} to={width - 16} />
        <text className="tick" x={width - 16} y={HEIGHT - 6} textAnchor="end">
          median latency
        </text>
        {leading.length > 1 && <path className="front" d={path} />}
        {points.map(({ id, name, shade, latency, value, bounds }) => (
          <g
            key={id}
            onPointerMove={(event) =>
              showTip(
                `${name}\n${score(value)} ${interval(bounds as [number, number])}, ${milliseconds(latency)}`,
                event,
              )
            }
            onPointerLeave={() => showTip(null)}
          >
            {bounds && <Whisker x={x(latency)} low={y(bounds[0] ?? 0)} high={y(bounds[1] ?? 0)} />}
            <circle className={`point ${shade}`} cx={x(latency)} cy={y(value)} r={6} />
          </g>
        ))}
        {labels.map(({ id, text, x: left, y: top, anchor }) => (
          <text key={id} className="named" x={left} y={top} textAnchor={anchor}>
            {text}
          </text>
        ))}
      </Drawing>
    </Figure>
  );
}

function Whisker({ x, low, high }: { x: number; low: number; high: number }) {
  return (
    <path
      className="whisker faint"
      d={`M${x} ${low}V${high}M${x - 4} ${low}h8M${x - 4} ${high}h8`}
    />
  );
}
