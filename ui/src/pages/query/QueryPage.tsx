import type { ComponentType } from "react";
import { useDrilldown } from "@/api/results";
import type { Drilldown, DrilldownHit, DrilldownRun } from "@/api/types";
import { useCrumbs } from "@/pages/results/crumbs";
import { Badge } from "@/parts/Badge";
import { Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";
import { useUrlState } from "@/parts/urlState";
import { hitKey, sameness } from "./hits";
import { RankLines } from "./RankLines";
import { RunsOfQuery } from "./RunsOfQuery";
import { Targets } from "./Targets";

export type ReaderProps = {
  id: string;
  query: Drilldown["query"];
  hit: DrilldownHit;
  onClose: () => void;
};

type Props = {
  id: string;
  query: string;
  /** Shows the chosen hit: with its text where there is a service that has it. */
  reader: ComponentType<ReaderProps>;
};

/** One query: its relevant targets, the hits of two runs side by side, the scores of all runs. */
export function QueryPage({ id, query, reader }: Props) {
  const drilldown = useDrilldown(id, query);
  return <Loaded of={drilldown}>{(data) => <Found id={id} data={data} reader={reader} />}</Loaded>;
}

type FoundProps = { id: string; data: Drilldown; reader: ComponentType<ReaderProps> };

function Found({ id, data, reader: Reader }: FoundProps) {
  const crumbs = useCrumbs(id);
  const { query, targets, runs } = data;
  const [left, setLeft] = useUrlState("left", "");
  const [right, setRight] = useUrlState("right", "");
  const [chosen, setChosen] = useUrlState("hit", "");
  const second = runs.find((run) => run.run_id === right) ?? runs.at(-1);
  const first = runs.find((run) => run.run_id === left) ?? runs.find((run) => run !== second);
  const hit = hits(first, second).find((one) => hitKey(one) === chosen);
  return (
    <Page
      title={query.query_text || query.query_id}
      crumbs={crumbs}
      below={
        <div className="chips">
          <Badge>{query.query_key}</Badge>
          {Object.entries(query.tags).map(([name, value]) => (
            <Badge key={name}>
              {name}: {value}
            </Badge>
          ))}
        </div>
      }
    >
      <div className="stack">
        <Targets targets={targets} runs={[first, second].filter((run) => run !== undefined)} />
        <div className="halves">
          {first && second && first !== second && (
            <Pick label="Left" value={first.run_id} runs={runs} onPick={setLeft} />
          )}
          {second && <Pick label="Right" value={second.run_id} runs={runs} onPick={setRight} />}
        </div>
        <RankLines
          left={first}
          right={second}
          same={sameness(targets)}
          chosen={chosen}
          onChoose={setChosen}
        />
      </div>
      {hit && <Reader id={id} query={query} hit={hit} onClose={() => setChosen("")} />}
      <RunsOfQuery id={id} runs={runs} />
    </Page>
  );
}

function hits(...runs: readonly (DrilldownRun | undefined)[]): DrilldownHit[] {
  return runs.flatMap((run) => run?.hits ?? []);
}

type PickProps = {
  label: string;
  value: string;
  runs: readonly DrilldownRun[];
  onPick: (run: string) => void;
};

function Pick({ label, value, runs, onPick }: PickProps) {
  return (
    <label className="row soft">
      {label}
      <select value={value} onChange={(event) => onPick(event.target.value)}>
        {runs.map((run) => (
          <option key={run.run_id} value={run.run_id}>
            {run.name}
          </option>
        ))}
      </select>
    </label>
  );
}
