import { useMemo } from 'react';
import {
  Area,
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceArea,
  Tooltip,
  useChartWidth,
  XAxis,
  YAxis,
} from 'recharts';
import type { Bucket } from '../../format/times.ts';
import { formatTick as formatTimeTick } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import {
  axisWidthPx,
  type ChartKind,
  type ChartRow,
  type DrawnSeries,
  ticksOf,
  valueIn,
} from './chart-data.ts';
import { ChartTooltip } from './chart-tooltip.tsx';
import { useSelection } from './use-selection.ts';

interface DrawingProps {
  readonly title: string;
  readonly kind: ChartKind;
  readonly shown: readonly DrawnSeries[];
  readonly rows: readonly ChartRow[];
  readonly bucket: Bucket;
  readonly format: (value: number) => string;
  readonly formatTick?: (value: number) => string;
  readonly unit: string;
  readonly heightPx: number;
  readonly onSelect?: (from: string, to: string) => void;
}

// The last tick label extends beyond the plot.
const MARGIN = { top: 8, right: 18, bottom: 0, left: 0 };
const TICK = { fill: 'var(--ink-faint)', fontSize: 11 };

/** Draws the chart. In its own file, because it imports Recharts and loads on demand. */
export default function Drawing(props: DrawingProps) {
  const { title, kind, shown, rows, bucket, format, unit, heightPx, onSelect } = props;
  const whole = rows.every((row) => shown.every(({ column }) => Number.isInteger(valueIn(row, column) ?? 0)));
  const formatValue = props.formatTick ?? format;
  const widthPx = useMemo(
    () => axisWidthPx(rows, shown, kind, formatValue),
    [rows, shown, kind, formatValue],
  );
  const selection = useSelection(bucket, onSelect);
  return (
    <ComposedChart
      responsive
      data={rows as ChartRow[]}
      margin={MARGIN}
      style={{ width: '100%', height: heightPx, cursor: onSelect === undefined ? 'default' : 'crosshair' }}
      className="select-none [&_svg]:rounded-md"
      barCategoryGap={rows.length > 60 ? 0.5 : '15%'}
      aria-label={text.charts.keys(title, unit)}
      {...selection.handlers}
    >
      <CartesianGrid vertical={false} stroke="var(--line)" />
      <TimeAxis rows={rows} bucket={bucket} kind={kind} />
      <YAxis
        width={widthPx}
        tickFormatter={formatValue}
        tick={TICK}
        tickLine={false}
        axisLine={false}
        tickCount={5}
        domain={[0, 'auto']}
        allowDecimals={!whole}
      />
      <Tooltip
        isAnimationActive={false}
        cursor={kind === 'bar' ? { fill: 'var(--hover)' } : { stroke: 'var(--line-strong)' }}
        content={({ active, label }) => (
          <ChartTooltip
            row={active ? rows.find((row) => row.at === label) : undefined}
            shown={shown}
            bucket={bucket}
            format={format}
            stacked={kind !== 'line'}
          />
        )}
      />
      {shown.map((each) => markOf(kind, each, rows))}
      {selection.from === null || selection.to === null ? null : (
        <ReferenceArea
          x1={selection.from}
          x2={selection.to}
          fill="var(--ink-soft)"
          fillOpacity={0.15}
          stroke="var(--ink-soft)"
        />
      )}
    </ComposedChart>
  );
}

/** The width of a tick label with its margin. */
const MARK_PX = 62;

function TimeAxis({ rows, bucket, kind }: Pick<DrawingProps, 'rows' | 'bucket' | 'kind'>) {
  const room = Math.max(2, Math.floor((useChartWidth() ?? 0) / MARK_PX));
  const ticks = useMemo(() => ticksOf(rows, bucket, room), [rows, bucket, room]);
  return (
    <XAxis
      dataKey="at"
      // Lines stand in the middle of their bucket, below the bars of the chart above.
      scale={kind === 'area' ? 'auto' : 'band'}
      ticks={ticks}
      interval={0}
      tickFormatter={(at: string) => formatTimeTick(at, bucket)}
      tick={TICK}
      tickLine={false}
      tickMargin={6}
      axisLine={{ stroke: 'var(--line-strong)' }}
      height={44}
      label={{
        value: bucket === 'day' ? text.charts.utcDays : text.charts.time,
        position: 'insideBottomRight',
        offset: 2,
        ...TICK,
      }}
    />
  );
}

/**
 * No animation, because values are misread while they move. Areas have no outline, because it would cover the
 * areas below where a value is zero.
 */
function markOf(
  kind: ChartKind,
  { key, column, label, colour, edge, dash }: DrawnSeries,
  rows: readonly ChartRow[],
) {
  const shared = { dataKey: column, name: label, isAnimationActive: false } as const;
  if (kind === 'bar')
    return (
      <Bar
        key={key}
        {...shared}
        stackId="all"
        fill={colour}
        {...(edge && { stroke: edge, strokeWidth: 0.75 })}
      />
    );
  if (kind === 'area')
    return (
      <Area
        key={key}
        {...shared}
        type="monotone"
        stackId="all"
        stroke="none"
        fill={colour}
        fillOpacity={0.85}
        activeDot={{ r: 3, stroke: 'var(--panel)' }}
      />
    );
  return (
    <Line
      key={key}
      {...shared}
      type="monotone"
      stroke={edge ?? colour}
      strokeWidth={1.75}
      strokeDasharray={dash ?? 'none'}
      dot={({ cx, cy, index }: DotPlace) =>
        isAlone(rows, index, column) && cx !== undefined && cy !== undefined ? (
          <circle key={index} cx={cx} cy={cy} r={3} fill={colour} />
        ) : (
          <g key={index} />
        )
      }
      activeDot={{ r: 3, stroke: 'var(--panel)' }}
    />
  );
}

interface DotPlace {
  readonly cx?: number;
  readonly cy?: number;
  readonly index: number;
}

/** Marks a value without neighbors, which draws no line. */
function isAlone(rows: readonly ChartRow[], index: number, column: string): boolean {
  const at = (place: number) => {
    const row = rows[place];
    return row === undefined ? null : valueIn(row, column);
  };
  return at(index) !== null && at(index - 1) === null && at(index + 1) === null;
}
