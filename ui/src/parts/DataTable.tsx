import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  sortFn_basic,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef } from "react";
import { useKeys } from "./keys";
import { Term } from "./Term";
import { useTip } from "./tip";
import { useUrlState } from "./urlState";

export type Column<Row> = {
  id: string;
  header: string;
  means?: string;
  /** What the column is sorted by; a column without it is not sorted. */
  sort?: (row: Row) => number | string | null | undefined;
  cell: (row: Row) => ReactNode;
  numeric?: boolean;
};

type Props<Row extends object> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** The first order, as `column` or `-column`. */
  order?: string;
  /** The name of the order in the address. */
  orderName?: string;
  onOpen?: (row: Row) => void;
  chosen?: (row: Row) => boolean;
};

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
});

const ROW_HEIGHT = 37;
// Fewer rows than these are drawn at once: the browser is fast enough, and find-in-page works.
const VIRTUAL_FROM = 150;
// A longer table scrolls by itself, so that its header stays in view.
const LONG = 15;

function columnsOf<Row extends object>(
  columns: readonly Column<Row>[],
): ColumnDef<typeof features, Row>[] {
  return columns.map(({ id, sort, numeric }) => ({
    id,
    accessorFn: (row: Row) => sort?.(row) ?? undefined,
    enableSorting: sort !== undefined,
    sortFn: "basic" as const,
    sortUndefined: "last" as const,
    sortDescFirst: numeric ?? false,
  }));
}

function parsed(order: string): SortingState {
  if (!order) return [];
  return order.startsWith("-")
    ? [{ id: order.slice(1), desc: true }]
    : [{ id: order, desc: false }];
}

/**
 * A table that is sorted by its headers, walked with j and k, and opened with Enter. The order is in
 * the address. Of many rows only those in view are in the document.
 */
export function DataTable<Row extends object>(props: Props<Row>) {
  const { label, columns, rows, rowKey, order = "", orderName = "sort", onOpen, chosen } = props;
  const [sort, setSort] = useUrlState(orderName, order);
  const scroll = useRef<HTMLDivElement>(null);
  const sorting = useMemo(() => parsed(sort), [sort]);
  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({
    features,
    data,
    columns: useMemo(() => columnsOf(columns), [columns]),
    getRowId: rowKey,
    state: { sorting },
    onSortingChange: (update) => {
      const [next] = typeof update === "function" ? update(sorting) : update;
      setSort(next ? `${next.desc ? "-" : ""}${next.id}` : order);
    },
  });
  const sorted = table.getRowModel().rows;
  const isVirtual = sorted.length >= VIRTUAL_FROM;
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    enabled: isVirtual,
  });
  useKeys(onOpen ? { j: () => step(1), k: () => step(-1) } : {});

  function step(by: number) {
    const here = document.activeElement?.closest<HTMLElement>("tr[data-index]");
    const inside = here && scroll.current?.contains(here);
    // Of several tables the keys walk the one with the focus, else the first.
    const first = document.querySelector("[data-walked]");
    if (!inside && (here || first !== scroll.current)) return;
    const next = Math.max(
      0,
      Math.min(sorted.length - 1, inside ? Number(here.dataset.index) + by : 0),
    );
    const focus = () =>
      scroll.current?.querySelector<HTMLElement>(`tr[data-index="${next}"]`)?.focus();
    if (!isVirtual) return focus();
    virtual.scrollToIndex(next);
    requestAnimationFrame(focus);
  }

  const items = isVirtual ? virtual.getVirtualItems() : null;
  const before = items?.[0]?.start ?? 0;
  const after = items ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const indexes = items ? items.map((item) => item.index) : sorted.map((_, index) => index);

  return (
    <section
      ref={scroll}
      className={sorted.length > LONG ? "scroll tall" : "scroll"}
      tabIndex={0}
      aria-label={label}
      data-walked={onOpen ? "" : undefined}
    >
      <table aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => {
              const head = table.getColumn(column.id);
              return (
                <Head
                  key={column.id}
                  column={column}
                  way={head?.getIsSorted() ?? false}
                  onSort={head?.getToggleSortingHandler()}
                />
              );
            })}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Gap height={before} span={columns.length} />}
          {indexes.map((index) => {
            const row = sorted[index];
            if (!row) return null;
            const value = row.original;
            return (
              <tr
                key={row.id}
                data-index={index}
                aria-rowindex={index + 2}
                className={chosen?.(value) ? "chosen" : undefined}
                tabIndex={onOpen ? 0 : undefined}
                onClick={onOpen && ((event) => isPlain(event.target) && onOpen(value))}
                onKeyDown={
                  onOpen &&
                  ((event) => {
                    if (event.key === "Enter" && event.target === event.currentTarget)
                      onOpen(value);
                  })
                }
              >
                {columns.map((column, at) => {
                  const Cell = at === 0 ? "th" : "td";
                  return (
                    <Cell
                      key={column.id}
                      scope={at === 0 ? "row" : undefined}
                      className={column.numeric ? "n" : undefined}
                    >
                      {column.cell(value)}
                    </Cell>
                  );
                })}
              </tr>
            );
          })}
          {after > 0 && <Gap height={after} span={columns.length} />}
        </tbody>
      </table>
    </section>
  );
}

type HeadProps<Row> = {
  column: Column<Row>;
  way: "asc" | "desc" | false;
  onSort: ((event: unknown) => void) | undefined;
};

function Head<Row>({ column, way, onSort }: HeadProps<Row>) {
  const { header, means, numeric, sort } = column;
  const tip = useTip(means ?? "");
  const title = <span className={means ? "term" : undefined}>{header}</span>;
  return (
    <th
      scope="col"
      className={numeric ? "n" : undefined}
      aria-sort={way ? (way === "asc" ? "ascending" : "descending") : undefined}
    >
      {sort ? (
        <button type="button" onClick={onSort} {...(means ? tip : {})}>
          {title}
        </button>
      ) : means ? (
        <Term means={means}>{header}</Term>
      ) : (
        title
      )}
    </th>
  );
}

/** Whether a click was on the row itself, not on a link or control inside it. */
function isPlain(target: EventTarget): boolean {
  return !(target instanceof Element && target.closest("a, button, input, select, label"));
}

function Gap({ height, span }: { height: number; span: number }) {
  return (
    <tr>
      <td colSpan={span} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}
