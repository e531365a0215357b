import { useShowTip } from "@/parts/tip";
import { interval, score } from "@/words/format";
import { XAxis } from "./axes";
import { Drawing, useWidth } from "./Drawing";
import { Figure } from "./Figure";
import { Name, nameRoom, nameRows } from "./names";
import { linear } from "./scale";

type Bar = {
  id: string;
  name: string;
  value: number | null;
  bounds: readonly number[] | undefined;
  best: boolean;
};

const THICK = 13;

type Props = {
  title: string;
  means: string;
  bars: readonly Bar[];
  caption?: string;
  /** The headings of the same as a table. */
  head?: string[];
};

const MEANS = ["Run", "Mean", "95 % interval"];

/** Means as bars on one scale from 0, the interval as a whisker. The best ones have a stronger colour. */
export function Bars({ title, means, bars, caption, head = MEANS }: Props) {
  const showTip = useShowTip();
  const [box, width] = useWidth();
  const names = bars.map(({ name }) => name);
  const { left, room } = nameRoom(names, width);
  const highest = Math.max(0.01, ...bars.map(({ value, bounds }) => bounds?.[1] ?? value ?? 0));
  const x = linear(0, highest, left, width - 54, width > 400 ? 5 : 3);
  const { rows: places, bottom } = nameRows(names, room);
  const rows = () =>
    bars.map(({ name, value, bounds }) => [
      name,
      score(value),
      interval(bounds as [number, number]),
    ]);
  return (
    <Figure title={title} means={means} caption={caption} table={{ head, rows }}>
      <Drawing box={box} title={title} width={width} height={bottom + 22}>
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
              <rect className="reach" x={0} y={top} width={width} height={height} />
              <Name name={name} room={room} x={left - 8} y={middle} />
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
              <text x={width - 2} y={middle + 4} textAnchor="end">
                {score(value)}
              </text>
            </g>
          );
        })}
      </Drawing>
    </Figure>
  );
}

function Whisker({ low, high, y }: { low: number; high: number; y: number }) {
  return (
    <path className="whisker" d={`M${low} ${y}H${high}M${low} ${y - 4}v8M${high} ${y - 4}v8`} />
  );
}
