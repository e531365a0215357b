import { type PointerEvent, useMemo } from "react";
import { useShowTip } from "@/parts/tip";
import { change } from "@/words/format";
import { YAxis } from "./axes";
import { Drawing, useWidth } from "./Drawing";
import { Figure } from "./Figure";
import { linear } from "./scale";

type Delta = { id: string; name: string; value: number };

const HEIGHT = 220;
const LEFT = 46;

type Props = { title: string; deltas: readonly Delta[]; onOpen: (delta: Delta) => void };

/** The change of each query against the baseline, from the greatest gain to the greatest loss. */
export function Waterfall({ title, deltas, onOpen }: Props) {
  const showTip = useShowTip();
  const [box, width] = useWidth();
  const sorted = useMemo(() => [...deltas].sort((a, b) => b.value - a.value), [deltas]);
  const high = Math.max(0, sorted[0]?.value ?? 0);
  const low = Math.min(0, sorted.at(-1)?.value ?? 0);
  const y = linear(low, high > low ? high : 0.01, HEIGHT - 12, 10, 4);
  const wide = (width - LEFT) / Math.max(1, sorted.length);
  const gap = wide > 4 ? 1 : 0;
  const bars = (sign: 1 | -1) =>
    sorted
      .map(({ value }, at) =>
        Math.sign(value) === sign
          ? `M${LEFT + at * wide} ${y(0)}V${y(value)}h${wide - gap}V${y(0)}Z`
          : "",
      )
      .join("");
  const under = (event: PointerEvent<SVGSVGElement> | React.MouseEvent<SVGSVGElement>) => {
    const area = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - area.left) / area.width) * width;
    return sorted[Math.floor((at - LEFT) / wide)];
  };
  if (high === 0 && low === 0) return null;
  return (
    <Figure
      title={title}
      means="One bar per query: its change against the baseline. Click a bar to open the query."
      table={{
        head: ["Query", "Change"],
        rows: () => sorted.map((d) => [d.name, change(d.value)]),
      }}
    >
      <Drawing
        box={box}
        title={title}
        width={width}
        height={HEIGHT}
        onPointerMove={(event) => {
          const delta = under(event);
          showTip(delta ? `${delta.name}\n${change(delta.value)}` : null, event);
        }}
        onPointerLeave={() => showTip(null)}
        onClick={(event) => {
          const delta = under(event);
          if (delta) onOpen(delta);
        }}
      >
        <rect className="reach" width={width} height={HEIGHT} />
        <YAxis scale={y} from={LEFT} to={width} />
        <path className="gain" d={bars(1)} />
        <path className="loss" d={bars(-1)} />
        <line className="zero" x1={LEFT} x2={width} y1={y(0)} y2={y(0)} />
      </Drawing>
    </Figure>
  );
}
