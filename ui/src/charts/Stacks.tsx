import { useShowTip } from "@/parts/tip";
import { Figure } from "./Figure";
import { Name, nameRows } from "./names";

export type Part = { name: string; shade: string; means: string };
type Stack = { id: string; name: string; counts: Readonly<Record<string, number>> };

const WIDTH = 520;
const LEFT = 160;
const ROOM = 23;
const THICK = 17;
// A count is written into its part where the part is wide enough for its digits.
const DIGIT = 8;

type Props = {
  title: string;
  means: string;
  caption: string;
  parts: readonly Part[];
  stacks: readonly Stack[];
};

/** What a number is made of, a bar for each; all bars are as long as what they count. */
export function Stacks({ title, means, caption, parts, stacks }: Props) {
  const showTip = useShowTip();
  const drawn = parts.filter(({ name }) => stacks.some(({ counts }) => counts[name]));
  const total = ({ counts }: Stack) =>
    drawn.reduce((sum, { name }) => sum + (counts[name] ?? 0), 0);
  const unit = (WIDTH - LEFT) / Math.max(1, ...stacks.map(total));
  const { rows: places, bottom } = nameRows(
    stacks.map(({ name }) => name),
    ROOM,
  );
  const rows = () =>
    stacks.map(({ name, counts }) => [
      name,
      ...drawn.map((part) => String(counts[part.name] ?? 0)),
    ]);
  return (
    <Figure
      title={title}
      means={means}
      caption={caption}
      table={{ head: ["Run", ...drawn.map(({ name }) => name)], rows }}
    >
      <svg className="chart" viewBox={`0 0 ${WIDTH} ${bottom}`} role="img" aria-label={title}>
        {stacks.map(({ id, name, counts }, at) => {
          let x = LEFT;
          const middle = places[at]?.middle ?? 0;
          return (
            <g key={id}>
              <Name name={name} room={ROOM} x={LEFT - 8} y={middle} />
              {drawn.map((part) => {
                const count = counts[part.name] ?? 0;
                const start = x;
                x += count * unit;
                return (
                  <g
                    key={part.name}
                    className={part.shade}
                    onPointerMove={(event) =>
                      showTip(
                        `${name}\n${count} ${part.name}${part.means && `: ${part.means}`}`,
                        event,
                      )
                    }
                    onPointerLeave={() => showTip(null)}
                  >
                    <rect
                      className="part"
                      x={start}
                      y={middle - THICK / 2}
                      width={count * unit}
                      height={THICK}
                    />
                    {count * unit > String(count).length * DIGIT + 4 && (
                      <text
                        className="inside"
                        x={start + (count * unit) / 2}
                        y={middle + 4}
                        textAnchor="middle"
                      >
                        {count}
                      </text>
                    )}
                  </g>
                );
              })}
            </g>
          );
        })}
      </svg>
      <ul className="keys">
        {drawn.map(({ name, shade, means: meaning }) => (
          <li key={name}>
            <span className={`swatch ${shade}`} />
            <span>
              {name}
              {meaning && <small>: {meaning}</small>}
            </span>
          </li>
        ))}
      </ul>
    </Figure>
  );
}
