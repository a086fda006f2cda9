import { ChartArea, Table2 } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { formatCount } from '../../format/numbers.ts';
import type { Bucket } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { Button } from '../button.tsx';
import { classes } from '../class-names.ts';
import { Skeleton } from '../states.tsx';
import {
  type ChartKind,
  type ChartSeries,
  type DrawnSeries,
  foldSeries,
  rowsOf,
  swatchOf,
  valueIn,
} from './chart-data.ts';
import { ChartTable } from './chart-table.tsx';
import { useDrawing } from './use-drawing.ts';

export interface TimeChartProps {
  readonly title: string;
  /** Areas and bars are stacked; lines are for values that do not add up, such as quantiles. */
  readonly kind: ChartKind;
  /** Undefined while loading. */
  readonly series: readonly ChartSeries[] | undefined;
  readonly bucket: Bucket;
  readonly format: (value: number) => string;
  /** The label of the value axis. */
  readonly unit: string;
  /** A shorter format for the axis. */
  readonly formatTick?: (value: number) => string;
  readonly heightPx?: number;
  /** The user selected a time span or one bucket. */
  readonly onSelect?: (from: string, to: string) => void;
  /** What the chart shows, beside its title. */
  readonly note?: string | undefined;
  /** Next to the table button. */
  readonly actions?: ReactNode;
}

const HEIGHT_PX = 240;
const NONE: ReadonlySet<string> = new Set();

/** Series over time, as a chart or as a table. */
export function TimeChart(props: TimeChartProps) {
  const { title, kind, series, unit, heightPx = HEIGHT_PX } = props;
  const Drawing = useDrawing();
  const [asTable, setAsTable] = useState(false);
  const [clicked, setClicked] = useState<ReadonlySet<string>>(NONE);
  const folded = useMemo(() => foldSeries(series ?? [], kind, text.charts.other), [series, kind]);
  const rows = useMemo(() => rowsOf(folded.drawn), [folded]);
  // A filter may leave only series that were hidden before; an empty chart would say that there is nothing.
  const hidden = folded.drawn.every(({ key }) => clicked.has(key)) ? NONE : clicked;
  const shown = useMemo(() => folded.drawn.filter((each) => !hidden.has(each.key)), [folded, hidden]);
  const empty = !rows.some((row) => folded.drawn.some(({ column }) => valueIn(row, column)));
  const toggle = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    setClicked(next);
  };
  return (
    <section className="min-w-0 border-t-2 border-rule" aria-label={title}>
      <header className="flex min-h-[34px] flex-wrap items-center gap-x-3 gap-y-1 py-1">
        <h2 className="mr-auto font-semibold">
          {title}
          {props.note === undefined ? null : (
            <span className="ml-2 text-xs font-normal text-ink-soft">{props.note}</span>
          )}
        </h2>
        {props.actions}
        <ViewButton title={title} asTable={asTable} onClick={() => setAsTable(!asTable)} />
      </header>
      {series === undefined ? (
        <ChartSkeleton heightPx={heightPx} />
      ) : asTable ? (
        <ChartTable {...props} drawn={folded.drawn} rows={rows} heightPx={heightPx} />
      ) : (
        <div className="pb-2">
          <div className="flex min-h-5 flex-wrap items-start justify-between gap-x-4 gap-y-1 text-xs">
            <span className="text-ink-faint">{unit}</span>
            <Legend drawn={folded.drawn} hidden={hidden} onToggle={toggle} left={folded.left} />
          </div>
          <div className="relative mt-1" style={{ height: heightPx }}>
            {Drawing === null ? (
              <Skeleton className="h-full w-full" />
            ) : (
              <Drawing {...props} shown={shown} rows={rows} heightPx={heightPx} />
            )}
            {empty ? (
              <p className="pointer-events-none absolute inset-0 grid place-items-center text-[13px] text-ink-soft">
                {text.charts.nothing}
              </p>
            ) : null}
          </div>
        </div>
      )}
    </section>
  );
}

function ViewButton({ title, asTable, onClick }: ViewButtonProps) {
  const Icon = asTable ? ChartArea : Table2;
  return (
    <Button
      look="quiet"
      size="small"
      onClick={onClick}
      aria-label={asTable ? text.charts.asChartOf(title) : text.charts.asTableOf(title)}
    >
      <Icon aria-hidden className="size-3.5" />
      {asTable ? text.charts.asChart : text.charts.asTable}
    </Button>
  );
}

interface ViewButtonProps {
  readonly title: string;
  readonly asTable: boolean;
  readonly onClick: () => void;
}

/** As large as the chart, so that the layout does not shift. */
function ChartSkeleton({ heightPx }: { readonly heightPx: number }) {
  return (
    <div className="pb-2" role="status" aria-label={text.states.loading}>
      <Skeleton className="my-[3px] w-24" />
      <div className="mt-1" style={{ height: heightPx }}>
        <Skeleton className="h-full w-full opacity-60" />
      </div>
    </div>
  );
}

/** The legend; a click hides or shows a series. A single series has no legend. */
function Legend({ drawn, hidden, onToggle, left }: LegendProps) {
  if (drawn.length < 2) return null;
  return (
    <div className="min-w-0">
      <ul aria-label={text.charts.series} className="-mx-1.5 flex flex-wrap gap-1">
        {drawn.map((each) => {
          const off = hidden.has(each.key);
          return (
            <li key={each.key} className="max-w-full min-w-0">
              <button
                type="button"
                aria-pressed={!off}
                onClick={() => onToggle(each.key)}
                className="flex min-h-[24px] max-w-48 items-center gap-1.5 rounded px-1.5 hover:bg-hover"
              >
                <span
                  aria-hidden
                  className={classes('size-2 shrink-0 rounded-[2px]', off && 'opacity-30')}
                  style={swatchOf(each)}
                />
                <span className={classes('truncate', off ? 'text-ink-faint line-through' : 'text-ink-soft')}>
                  {each.label}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      {left === 0 ? null : <p className="text-ink-faint">{text.charts.notDrawn(formatCount(left))}</p>}
    </div>
  );
}

interface LegendProps {
  readonly drawn: readonly DrawnSeries[];
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
  readonly left: number;
}
