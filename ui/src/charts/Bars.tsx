import { useShowTip } from "@/parts/tip";
import { interval, score } from "@/words/format";
import { XAxis } from "./axes";
import { Figure } from "./Figure";
import { Name, nameRows } from "./names";
import { linear } from "./scale";

type Bar = {
  id: string;
  name: string;
  value: number | null;
  bounds: readonly number[] | undefined;
  best: boolean;
};

const WIDTH = 520;
const LEFT = 160;
const ROOM = 23;
const THICK = 13;

type Props = { title: string; means: string; bars: readonly Bar[]; caption?: string };

/** Means as bars on one scale from 0, the interval as a whisker. The best ones have a stronger colour. */
export function Bars({ title, means, bars, caption }: Props) {
  const showTip = useShowTip();
  const highest = Math.max(0.01, ...bars.map(({ value, bounds }) => bounds?.[1] ?? value ?? 0));
  const x = linear(0, highest, LEFT, WIDTH - 54);
  const { rows: places, bottom } = nameRows(
    bars.map(({ name }) => name),
    ROOM,
  );
  const rows = () =>
    bars.map(({ name, value, bounds }) => [
      name,
      score(value),
      interval(bounds as [number, number]),
    ]);
  return (
    <Figure
      title={title}
      means={means}
      caption={caption}
      table={{ head: ["Run", "Mean", "95 % interval"], rows }}
    >
      <svg className="chart" viewBox={`0 0 ${WIDTH} ${bottom + 22}`} role="img" aria-label={title}>
        <XAxis scale={x} from={4} to={bottom} />
        {bars.map(({ id, name, value, bounds, best }, at) => {
          const { top, height, middle } = places[at] ?? { top: 0, height: 0, middle: 0 };
          const told = `${name}\n${score(value)} ${interval(bounds as [number, number])}`;
          return (
            <g
              key={id}
              onPointerMove={(event) => showTip(told, event)}
              onPointerLeave={() => showTip(null)}
            >
              <rect className="reach" x={0} y={top} width={WIDTH} height={height} />
              <Name name={name} room={ROOM} x={LEFT - 8} y={middle} />
              {value !== null && (
                <rect
                  className={best ? "level best" : "level"}
                  x={x(0)}
                  y={middle - THICK / 2}
                  width={Math.max(x(value) - x(0), 0.5)}
                  height={THICK}
                />
              )}
              {bounds && <Whisker low={x(bounds[0] ?? 0)} high={x(bounds[1] ?? 0)} y={middle} />}
              <text x={WIDTH - 2} y={middle + 4} textAnchor="end">
                {score(value)}
              </text>
            </g>
          );
        })}
      </svg>
    </Figure>
  );
}

function Whisker({ low, high, y }: { low: number; high: number; y: number }) {
  return (
    <path className="whisker" d={`M${low} ${y}H${high}M${low} ${y - 4}v8M${high} ${y - 4}v8`} />
  );
}
