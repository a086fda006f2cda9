import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { text } from '../text/index.ts';
import { classes } from './class-names.ts';
import { Skeleton } from './states.tsx';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** The sort value; a column without it is not sortable. */
  readonly sortBy?: (row: Row) => string | number;
  /** The narrowest window that shows the column. */
  readonly from?: 'sm' | 'md' | 'lg' | 'xl';
  readonly align?: 'right';
  /** A class for a fixed width. */
  readonly width?: string;
  /** Hides the header visually, as for a column of buttons. */
  readonly quietHeader?: boolean;
  /** The total over the rows shown, in the footer. A table without totals has no footer. */
  readonly total?: (rows: readonly Row[]) => ReactNode;
}

interface DataTableProps<Row> {
  /** The accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while loading, which shows a skeleton. */
  readonly rows: readonly Row[] | undefined;
  readonly rowId: (row: Row) => string;
  readonly sortedBy?: { readonly id: string; readonly desc: boolean };
}

/** The column that names a row: it shares a wide window with the others, and takes what is left of a narrow one. */
export const nameWidth = 'max-sm:w-full max-sm:max-w-0 sm:max-w-80 sm:min-w-40';

const HEAD = 'px-2.5 text-xs font-medium whitespace-nowrap text-ink-faint [font-stretch:95%]';

/** The cells of a table that is not a `DataTable`, such as one whose rows are dragged. */
export const tableCells = {
  head: `h-[30px] ${HEAD} first:pl-0 last:pr-0`,
  /** Over the heads of several columns in the middle of the table, which are `grouped`. */
  group: `h-6 pt-1 ${HEAD}`,
  grouped: `h-[30px] ${HEAD}`,
  body: 'h-[42px] px-2.5 py-1 first:pl-0 last:pr-0',
} as const;

const ROW_PX = 42;
const SKELETON_ROWS = 6;
/** Up to this many rows, rendering all is cheaper than virtualization. */
const VIRTUAL_FROM_ROWS = 100;

const FROM = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden', xl: 'max-xl:hidden' } as const;

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() });

/** A sortable table that renders only visible rows, as a `table` element. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { columns, rows } = props;
  const table = useSortedTable(props);
  const sorted = table.getRowModel().rows;
  return (
    <div className="overflow-x-auto border-t-2 border-rule">
      <table className="w-full border-collapse text-left" aria-busy={rows === undefined || undefined}>
        <caption className="sr-only">{props.label}</caption>
        <thead>
          <tr className="border-b border-line-strong">
            {columns.map((column) => {
              const model = table.getColumn(column.id);
              const direction = model?.getIsSorted() ?? false;
              return (
                <th
                  key={column.id}
                  scope="col"
                  aria-sort={
                    direction === 'asc' ? 'ascending' : direction === 'desc' ? 'descending' : undefined
                  }
                  className={classes(
                    tableCells.head,
                    column.align === 'right' && 'text-right',
                    column.from !== undefined && FROM[column.from],
                    column.width,
                  )}
                >
                  {column.sortBy === undefined ? (
                    <span className={column.quietHeader === true ? 'sr-only' : ''}>{column.header}</span>
                  ) : (
                    <SortButton
                      header={column.header}
                      direction={direction}
                      onClick={() => model?.toggleSorting()}
                    />
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        {rows === undefined ? (
          <SkeletonRows columns={columns} />
        ) : sorted.length < VIRTUAL_FROM_ROWS ? (
          <tbody>
            {sorted.map((row) => (
              <TableRow key={row.id} columns={columns} row={row.original} />
            ))}
          </tbody>
        ) : (
          <VirtualRows columns={columns} rows={sorted.map((row) => row.original)} rowId={props.rowId} />
        )}
        {rows === undefined ? null : <Totals columns={columns} rows={rows} />}
      </table>
    </div>
  );
}

function useSortedTable<Row extends object>({ columns, rows, rowId, sortedBy }: DataTableProps<Row>) {
  const [sorting, setSorting] = useState<SortingState>(sortedBy === undefined ? [] : [sortedBy]);
  // Together: only new data is sorted again, and new columns may sort by other values, such as spend that was read later.
  const { definitions, data } = useMemo(
    () => ({ definitions: columns.map((column) => definitionOf(column)), data: [...(rows ?? [])] }),
    [columns, rows],
  );
  return useTable({
    features,
    columns: definitions,
    data,
    getRowId: rowId,
    state: { sorting },
    onSortingChange: setSorting,
    enableSortingRemoval: false,
  });
}

function definitionOf<Row extends object>(column: Column<Row>): ColumnDef<typeof features, Row> {
  const { sortBy } = column;
  if (sortBy === undefined) return { id: column.id, header: column.header, enableSorting: false };
  return {
    id: column.id,
    header: column.header,
    accessorFn: (row) => sortBy(row),
    sortFn: (a, b) => compare(sortBy(a.original), sortBy(b.original)),
    // The largest number is what a reader looks for; a name, from its beginning.
    sortDescFirst: column.align === 'right',
  };
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function SortButton({ header, direction, onClick }: SortButtonProps) {
  const Icon = direction === 'asc' ? ArrowUp : direction === 'desc' ? ArrowDown : ChevronsUpDown;
  return (
    <button
      type="button"
      onClick={onClick}
      title={text.table.sortBy(header)}
      className={classes('inline-flex items-center gap-1 rounded hover:text-ink', direction && 'text-ink')}
    >
      {header}
      <Icon aria-hidden className={classes('size-3', direction === false && 'sr-only')} />
    </button>
  );
}

interface SortButtonProps {
  readonly header: string;
  readonly direction: false | 'asc' | 'desc';
  readonly onClick: () => void;
}

interface RowProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
}

function TableRow<Row>({ columns, row }: RowProps<Row>) {
  return (
    <tr className="relative border-b hover:bg-hover">
      {columns.map((column) => (
        <td
          key={column.id}
          className={classes(
            tableCells.body,
            column.align === 'right' && 'text-right',
            column.from !== undefined && FROM[column.from],
            column.width,
          )}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function Totals<Row>({ columns, rows }: TotalsProps<Row>) {
  if (columns.every(({ total }) => total === undefined)) return null;
  return (
    <tfoot>
      <tr className="border-t-2 border-rule font-medium">
        {columns.map((column) => (
          <td
            key={column.id}
            className={classes(
              'h-[34px] px-2.5 whitespace-nowrap first:pl-0 last:pr-0',
              column.align === 'right' && 'text-right',
              column.from !== undefined && FROM[column.from],
            )}
          >
            {column.total?.(rows)}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

interface TotalsProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

function SkeletonRows<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <tbody>
      {Array.from({ length: SKELETON_ROWS }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same and never move
        <tr key={index} className="border-b">
          {columns.map((column, at) => (
            <td
              key={column.id}
              className={classes(
                'h-[42px] px-2.5 first:pl-0 last:pr-0',
                column.from !== undefined && FROM[column.from],
                column.width,
              )}
            >
              <Skeleton className={at === 0 ? 'w-40 max-w-full' : 'w-20 max-w-full'} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

function VirtualRows<Row>({ columns, rows, rowId }: VirtualRowsProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [topPx, setTopPx] = useState(0);
  useLayoutEffect(() => {
    setTopPx((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollMargin: topPx,
  });
  const items = virtual.getVirtualItems();
  const beforePx = (items[0]?.start ?? topPx) - topPx;
  const afterPx = virtual.getTotalSize() - ((items.at(-1)?.end ?? topPx) - topPx);
  return (
    <tbody ref={body}>
      <Spacer px={beforePx} />
      {items.map(({ index }) => {
        const row = rows[index];
        return row === undefined ? null : <TableRow key={rowId(row)} columns={columns} row={row} />;
      })}
      <Spacer px={afterPx} />
    </tbody>
  );
}

interface VirtualRowsProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
}

function Spacer({ px }: { readonly px: number }) {
  return px <= 0 ? null : (
    <tr aria-hidden style={{ height: px }}>
      <td />
    </tr>
  );
}

/** The look of the button or link that names a row. A click anywhere in the row opens it. */
export const rowTarget =
  "max-w-full truncate text-left font-medium after:absolute after:inset-0 after:content-['']";

/** The name of a row that opens on this page. */
export function RowName({ children, note, onOpen }: RowNameProps) {
  return (
    <div className="min-w-0">
      <button type="button" onClick={onOpen} className={rowTarget}>
        {children}
      </button>
      {note === undefined ? null : <div className="truncate text-xs text-ink-faint">{note}</div>}
    </div>
  );
}

interface RowNameProps {
  readonly children: ReactNode;
  readonly note?: ReactNode;
  readonly onOpen: () => void;
}

/** Keeps the buttons of a row above the click area that opens it. */
export function RowActions({ children }: { readonly children: ReactNode }) {
  return <div className="relative z-10 flex justify-end gap-1">{children}</div>;
}
