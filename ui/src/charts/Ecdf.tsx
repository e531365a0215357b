import { useShowTip } from "@/parts/tip";
import { milliseconds } from "@/words/format";
import { XAxis, YAxis } from "./axes";
import { Drawing, useWidth } from "./Drawing";
import { Figure } from "./Figure";
import { LineKeys } from "./LineKeys";
import { linear, logarithmic } from "./scale";

export type Steps = {
  id: string;
  name: string;
  /** The class of its colour. */
  shade: string;
  milliseconds: readonly number[];
  shares: readonly number[];
};

const HEIGHT = 250;
const LEFT = 46;
const BOTTOM = HEIGHT - 36;
const TOLD = [0.5, 0.9, 0.99];

/** The share of queries that each run answered within a time. */
export function Ecdf({ runs, means }: { runs: readonly Steps[]; means: string }) {
  const showTip = useShowTip();
  const [box, width] = useWidth();
  const times = runs.flatMap((run) => run.milliseconds);
  const x = logarithmic(Math.min(...times), Math.max(...times), LEFT, width - 12);
  const y = linear(0, 1, BOTTOM, 10, 4);
  const within = (run: Steps, share: number) =>
    milliseconds(run.milliseconds[run.shares.findIndex((one) => one >= share)]);
  const title = "Share of queries answered within a time";
  return (
    <Figure
      title={title}
      means={means}
      table={{
        head: ["Run", ...TOLD.map((share) => `${100 * share} %`)],
        rows: () => runs.map((run) => [run.name, ...TOLD.map((share) => within(run, share))]),
      }}
    >
      <Drawing box={box} title={title} width={width} height={HEIGHT}>
        <XAxis scale={x} from={10} to={BOTTOM} format={(ms) => `${ms} ms`} />
        <YAxis scale={y} from={LEFT} to={width - 12} format={(share) => `${100 * share} %`} />
        {runs.map((run) => (
          <path
            key={run.id}
            className={`line ${run.shade}`}
            d={path(run, x, y)}
            onPointerMove={(event) => showTip(`${run.name}\np50 ${within(run, 0.5)}`, event)}
            onPointerLeave={() => showTip(null)}
          />
        ))}
      </Drawing>
      <LineKeys lines={runs} />
    </Figure>
  );
}

function path(run: Steps, x: (at: number) => number, y: (at: number) => number): string {
  const start = `M${x(run.milliseconds[0] ?? 1)} ${y(0)}`;
  return start + run.milliseconds.map((ms, at) => `H${x(ms)}V${y(run.shares[at] ?? 1)}`).join("");
}
