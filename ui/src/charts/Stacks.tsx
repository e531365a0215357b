import { useShowTip } from "@/parts/tip";
import { Drawing, useWidth } from "./Drawing";
import { Figure } from "./Figure";
import { Name, nameRoom, nameRows } from "./names";

/** A part by the *name* of its count; it is shown by its *label*, if it has one. */
export type Part = { name: string; label?: string; shade: string; means: string };
type Stack = { id: string; name: string; counts: Readonly<Record<string, number>> };

const THICK = 17;
// A count is written into its part where the part is wide enough for its digits.
const DIGIT = 8;

const labelOf = ({ name, label }: Part): string => label ?? name;

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
  const [box, width] = useWidth();
  const names = stacks.map(({ name }) => name);
  const { left, room } = nameRoom(names, width);
  const drawn = parts.filter(({ name }) => stacks.some(({ counts }) => counts[name]));
  const total = ({ counts }: Stack) =>
    drawn.reduce((sum, { name }) => sum + (counts[name] ?? 0), 0);
  const unit = (width - left) / Math.max(1, ...stacks.map(total));
  const { rows: places, bottom } = nameRows(names, room);
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
      table={{ head: ["Run", ...drawn.map(labelOf)], rows }}
    >
      <Drawing box={box} title={title} width={width} height={bottom}>
        {stacks.map(({ id, name, counts }, at) => {
          let x = left;
          const middle = places[at]?.middle ?? 0;
          return (
            <g key={id}>
              <Name name={name} room={room} x={left - 8} y={middle} />
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
                        `${name}\n${count} ${labelOf(part)}${part.means && `: ${part.means}`}`,
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
      </Drawing>
      <ul className="keys">
        {drawn.map((part) => (
          <li key={part.name}>
            <span className={`swatch ${part.shade}`} />
            <span>
              {labelOf(part)}
              {part.means && <small>: {part.means}</small>}
            </span>
          </li>
        ))}
      </ul>
    </Figure>
  );
}
