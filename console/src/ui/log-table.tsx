import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { classes } from './class-names.ts';
import { Skeleton } from './states.tsx';

export interface LogColumn<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Width, alignment and visibility of the column and its header. */
  readonly className?: string;
}

interface LogTableProps<Row> {
  readonly label: string;
  /** The first column names the row and opens it. */
  readonly columns: readonly LogColumn<Row>[];
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly rowId: (row: Row) => string;
  /** The page of the row, so that it can open in a new tab. */
  readonly hrefOf: (row: Row) => string;
  readonly onOpen: (row: Row) => void;
  /** Whether more rows can be loaded. */
  readonly hasMore: boolean;
  /** The user is close to the last loaded row. */
  readonly onNearEnd: () => void;
  /** Called when the first row becomes visible or hidden. */
  readonly onTop: (isTop: boolean) => void;
}

const ROW_PX = 34;
/** Below 640 px, rows have a second line with what the hidden columns show. */
const TALL_ROW_PX = 50;
const NARROW = '(max-width: 639.98px)';
const CELL = 'h-[34px] max-sm:h-[50px] truncate border-b px-2.5 first:pl-0 last:pr-0';
const SKELETON_ROWS = 12;
/** Rows to read ahead: more than a user scrolls while a page loads. */
const AHEAD_ROWS = 150;
const PAGE_STEP = 15;
/** The height of the sticky headers above the rows. */
const COVERED_PX = 80;

/**
 * A table for any number of rows of equal height. It renders only visible rows and loads page by page. Arrow
 * keys move between rows, and Enter opens one. It does not sort, because it never holds all rows.
 */
export function LogTable<Row extends object>(props: LogTableProps<Row>) {
  const { columns, rows } = props;
  return (
    // `clip` instead of `hidden`, because the header must stay sticky.
    <div className="overflow-clip border-t-2 border-rule">
      <table
        className="w-full table-fixed border-separate border-spacing-0 text-left text-[13px]"
        aria-busy={rows === undefined || undefined}
        aria-rowcount={rows === undefined || props.hasMore ? -1 : rows.length + 1}
      >
        <caption className="sr-only">{props.label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                className={classes(
                  'sticky top-[44px] z-10 h-[30px] truncate border-b border-line-strong bg-canvas px-2.5 text-xs font-medium text-ink-faint [font-stretch:95%] first:pl-0 last:pr-0',
                  column.className,
                )}
              >
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        {rows === undefined ? <SkeletonRows columns={columns} /> : <Rows {...props} rows={rows} />}
      </table>
    </div>
  );
}

function Rows<Row extends object>(props: LogTableProps<Row> & { readonly rows: readonly Row[] }) {
  const { columns, rows, rowId, onTop, onNearEnd } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const topPx = useTop(body);
  const rowPx = useRowPx();
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    overscan: 10,
    scrollMargin: topPx,
    scrollPaddingStart: COVERED_PX,
    scrollPaddingEnd: rowPx,
  });
  const { measure } = virtual;
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are measured again when rows change height
  useLayoutEffect(() => measure(), [measure, rowPx]);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  const isTop = (virtual.scrollOffset ?? 0) <= topPx;
  useEffect(() => onTop(isTop), [onTop, isTop]);
  const isNearEnd = props.hasMore && last + AHEAD_ROWS >= rows.length;
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, onNearEnd]);
  const { activeId, move } = useRowKeys({
    body,
    rows,
    rowId,
    onMove: (index) => virtual.scrollToIndex(index, { align: 'auto' }),
  });
  const drawn = items.flatMap(({ index }) => {
    const row = rows[index];
    return row === undefined ? [] : [{ index, row, id: rowId(row) }];
  });
  // The Tab key reaches one row: the one used last, or else the first visible one.
  const tabbed = drawn.some(({ id }) => id === activeId) ? activeId : drawn[0]?.id;
  return (
    <tbody ref={body} className="[overflow-anchor:none]">
      <Spacer px={first * rowPx} />
      {drawn.map(({ index, row, id }) => (
        <LogRow
          key={id}
          index={index}
          id={id}
          row={row}
          columns={columns}
          href={props.hrefOf(row)}
          isTabbed={id === tabbed}
          onOpen={props.onOpen}
          onKey={move}
        />
      ))}
      <Spacer px={(rows.length - 1 - last) * rowPx} />
    </tbody>
  );
}

function useRowPx(): number {
  const isNarrow = useSyncExternalStore(subscribeToWidth, () => window.matchMedia(NARROW).matches);
  return isNarrow ? TALL_ROW_PX : ROW_PX;
}

function subscribeToWidth(onChange: () => void): () => void {
  const narrow = window.matchMedia(NARROW);
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
}

interface RowKeysSetup<Row> {
  readonly body: { readonly current: HTMLElement | null };
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  readonly onMove: (index: number) => void;
}

/** Moves the focus from row to row by key. */
function useRowKeys<Row>({ body, rows, rowId, onMove }: RowKeysSetup<Row>) {
  const [activeId, setActiveId] = useState<string | null>(null);
  const asked = useRef<string | null>(null);
  useEffect(() => {
    // The row to focus may have been rendered only now.
    if (asked.current === null) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-row="${asked.current}"] a`);
    if (link === null || link === undefined) return;
    asked.current = null;
    link.focus({ preventScroll: true });
  });
  const moveFrom = (index: number, key: string) => {
    const target = targetOf(key, index, rows.length);
    const row = target === null ? undefined : rows[target];
    if (target === null || row === undefined) return false;
    onMove(target);
    asked.current = rowId(row);
    setActiveId(asked.current);
    return true;
  };
  // The handler stays the same, so that rows that did not change are not rendered again.
  const latestMove = useRef(moveFrom);
  useLayoutEffect(() => {
    latestMove.current = moveFrom;
  });
  const move = useCallback((index: number, key: string) => latestMove.current(index, key), []);
  return { activeId, move };
}

/** The offset of the rows in the page. It changes with the content above. */
function useTop(body: { readonly current: HTMLElement | null }): number {
  const [topPx, setTopPx] = useState(0);
  useLayoutEffect(() => {
    const measure = () =>
      setTopPx(Math.round((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [body]);
  return topPx;
}

function targetOf(key: string, index: number, count: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + PAGE_STEP,
    PageUp: index - PAGE_STEP,
    Home: 0,
    End: count - 1,
  };
  const target = steps[key];
  return target === undefined ? null : Math.min(count - 1, Math.max(0, target));
}

interface LogRowProps<Row> {
  readonly index: number;
  readonly id: string;
  readonly row: Row;
  readonly columns: readonly LogColumn<Row>[];
  readonly href: string;
  readonly isTabbed: boolean;
  readonly onOpen: (row: Row) => void;
  /** Returns whether the key moved the focus. */
  readonly onKey: (index: number, key: string) => boolean;
}

/** Scrolling renders only the rows that become visible. `memo` loses the type parameter of the component. */
const LogRow = memo(LogRowCells) as typeof LogRowCells;

function LogRowCells<Row extends object>(props: LogRowProps<Row>) {
  const { index, id, row, columns, href, isTabbed, onOpen, onKey } = props;
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onOpen(row);
  };
  const move = (event: KeyboardEvent) => {
    if (onKey(index, event.key)) event.preventDefault();
  };
  return (
    <tr
      data-row={id}
      aria-rowindex={index + 2}
      className="group relative focus-within:bg-hover hover:bg-hover"
    >
      {columns.map((column, at) => (
        <td key={column.id} className={classes(CELL, column.className)}>
          {at === 0 ? (
            <a
              href={href}
              tabIndex={isTabbed ? 0 : -1}
              onClick={open}
              onKeyDown={move}
              className="rounded after:absolute after:inset-0 after:content-[''] focus-visible:outline-offset-4"
            >
              {column.cell(row)}
            </a>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

function Spacer({ px }: { readonly px: number }) {
  return px <= 0 ? null : (
    <tr aria-hidden style={{ height: px }}>
      <td />
    </tr>
  );
}

function SkeletonRows<Row>({ columns }: { readonly columns: readonly LogColumn<Row>[] }) {
  return (
    <tbody>
      {Array.from({ length: SKELETON_ROWS }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same and never move
        <tr key={index}>
          {columns.map((column) => (
            <td key={column.id} className={classes(CELL, column.className)}>
              <Skeleton className="w-4/5" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
