import { useShowTip } from "@/parts/tip";
import { short } from "./axes";
import { Figure } from "./Figure";

export type Part = { name: string; shade: string; means: string };
type Stack = { id: string; name: string; counts: Readonly<Record<string, number>> };

const WIDTH = 520;
const LEFT = 150;
const ROW = 25;
const THICK = 15;

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
  const height = ROW * stacks.length;
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
      <svg className="chart" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={title}>
        {stacks.map(({ id, name, counts }, at) => {
          let x = LEFT;
          return (
            <g key={id}>
              <text x={LEFT - 8} y={ROW * (at + 0.5) + 4} textAnchor="end">
                {short(name, 22)}
              </text>
              {drawn.map((part) => {
                const count = counts[part.name] ?? 0;
                const start = x;
                x += count * unit;
                return (
                  <rect
                    key={part.name}
                    className={`part ${part.shade}`}
                    x={start}
                    y={ROW * at + (ROW - THICK) / 2}
                    width={count * unit}
                    height={THICK}
                    onPointerMove={(event) =>
                      showTip(`${name}\n${count} ${part.name}: ${part.means}`, event)
                    }
                    onPointerLeave={() => showTip(null)}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <ul className="keys">
        {drawn.map(({ name, shade, means: meaning }) => (
          <li key={name} title={meaning}>
            <span className={`swatch ${shade}`} />
            {name}
          </li>
        ))}
      </ul>
    </Figure>
  );
}
