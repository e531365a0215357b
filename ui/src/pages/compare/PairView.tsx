import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { Waterfall } from "@/charts/Waterfall";
import { type Column, DataTable } from "@/parts/DataTable";
import { useTip } from "@/parts/tip";
import { useUrlState } from "@/parts/urlState";
import { DEFINITIONS } from "@/words/definitions";
import { change, count, plural, score } from "@/words/format";
import { useMeasure } from "@/words/measures";
import { OUTCOMES, type Outcome, outcome, type Pair, tone } from "./deltas";

type Props = {
  rows: readonly Pair[];
  left: string;
  right: string;
  metric: string;
  /** The measure as it was typed. */
  label: string;
  /** Whether a smaller value is the better one. */
  isLower?: boolean;
  /** Where one query is seen. */
  to: (query: string) => string;
};

/** Two runs query by query: the counts, the waterfall, and the queries, worst regression first. */
export function PairView({ rows, left, right, metric, label, isLower = false, to }: Props) {
  const measure = useMeasure();
  const [show, setShow] = useUrlState<Outcome | "">("show", "");
  const [text, setText] = useUrlState("q", "");
  const [, navigate] = useLocation();
  const wanted = text.toLowerCase();
  const shown = useMemo(
    () =>
      rows.filter(
        (row) =>
          (!show || outcome(row.change, isLower) === show) &&
          row.text.toLowerCase().includes(wanted),
      ),
    [rows, show, wanted, isLower],
  );
  const deltas = useMemo(
    () =>
      rows.flatMap(({ id, text: name, change: value }) =>
        value === null ? [] : [{ id, name, value }],
      ),
    [rows],
  );
  const columns: Column<Pair>[] = [
    {
      id: "query",
      header: "Query",
      sort: (row) => row.text.toLowerCase(),
      cell: (row) => <Link href={to(row.id)}>{row.text}</Link>,
    },
    {
      id: "left",
      header: left,
      means: measure(metric),
      numeric: true,
      sort: (row) => row.left,
      cell: (row) => score(row.left),
    },
    {
      id: "right",
      header: right,
      means: measure(metric),
      numeric: true,
      sort: (row) => row.right,
      cell: (row) => score(row.right),
    },
    {
      id: "change",
      header: "Change",
      means: "The score of the second run minus that of the first.",
      numeric: true,
      sort: (row) => row.change,
      cell: (row) => <span className={tone(row.change, isLower)}>{change(row.change)}</span>,
    },
  ];
  return (
    <div className="stack">
      <div className="tiles">
        {OUTCOMES.map((one) => (
          <Count
            key={one}
            of={one}
            value={rows.filter((row) => outcome(row.change, isLower) === one).length}
            pressed={show === one}
            onPress={() => setShow(show === one ? "" : one)}
          />
        ))}
      </div>
      <Waterfall
        title={`Change of ${label}, ${right} against ${left}`}
        deltas={deltas}
        onOpen={({ id }) => navigate(to(id))}
      />
      <label className="row soft">
        Filter
        <input type="search" value={text} onChange={(event) => setText(event.target.value)} />
        {plural(shown.length, "query", "queries")}
      </label>
      <DataTable
        label="Queries"
        columns={columns}
        rows={shown}
        rowKey={({ id }) => id}
        order={isLower ? "-change" : "change"}
        orderName="by"
        onOpen={({ id }) => navigate(to(id))}
      />
    </div>
  );
}

type CountProps = { of: Outcome; value: number; pressed: boolean; onPress: () => void };

function Count({ of, value, pressed, onPress }: CountProps) {
  const tip = useTip(DEFINITIONS.counts);
  return (
    <div className="tile">
      <button type="button" aria-pressed={pressed} onClick={onPress} {...tip}>
        <b className={tone(of)}>{count(value)}</b>
        {of}
      </button>
    </div>
  );
}
