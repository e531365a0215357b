import { useShowTip } from "@/parts/tip";
import { milliseconds, score } from "@/words/format";
import { short, XAxis, YAxis } from "./axes";
import { Figure } from "./Figure";
import { front, type Point } from "./pareto";
import { linear, logarithmic } from "./scale";

const WIDTH = 520;
const HEIGHT = 280;
const LEFT = 46;

/** Quality against latency; the dashed steps join the runs that no other beats in both. */
export function Pareto({ points, metric }: { points: readonly Point[]; metric: string }) {
  const showTip = useShowTip();
  const times = points.map(({ latency }) => latency);
  const values = points.map(({ value }) => value);
  const x = logarithmic(Math.min(...times), Math.max(...times), LEFT, WIDTH - 16);
  const y = linear(
    Math.min(...values),
    Math.max(...values, Math.min(...values) + 0.01),
    HEIGHT - 40,
    12,
    4,
  );
  const leading = front(points);
  const path = leading
    .map(({ latency, value }, at) => `${at ? "H" : "M"}${x(latency)}${at ? "V" : " "}${y(value)}`)
    .join("");
  const named = new Set(leading.map(({ id }) => id));
  const rows = () =>
    points.map(({ name, latency, value }) => [name, milliseconds(latency), score(value)]);
  return (
    <Figure
      title={`${metric} against latency`}
      means="Up is better, left is faster. Latency is the median of one query, on a scale of equal factors."
      caption="Runs on the dashed line are beaten by no other in both."
      table={{ head: ["Run", "p50", metric], rows }}
    >
      <svg
        className="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${metric} against latency`}
      >
        <XAxis scale={x} from={12} to={HEIGHT - 40} format={(ms) => `${ms} ms`} />
        <YAxis scale={y} from={LEFT} to={WIDTH - 16} />
        <text className="tick" x={WIDTH - 16} y={HEIGHT - 6} textAnchor="end">
          median latency
        </text>
        <path className="front" d={path} />
        {points.map(({ id, name, latency, value, best }) => (
          <g
            key={id}
            onPointerMove={(event) =>
              showTip(`${name}\n${score(value)}, ${milliseconds(latency)}`, event)
            }
            onPointerLeave={() => showTip(null)}
          >
            <circle className={best ? "point best" : "point"} cx={x(latency)} cy={y(value)} r={6} />
            {named.has(id) && (
              <text
                x={x(latency) + (x(latency) > WIDTH / 2 ? -9 : 9)}
                y={y(value) - 8}
                textAnchor={x(latency) > WIDTH / 2 ? "end" : "start"}
              >
                {short(name, 30)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </Figure>
  );
}
