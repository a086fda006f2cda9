import type { Bucket } from '../../format/times.ts';
import { formatBucket } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { type ChartRow, type DrawnSeries, swatchOf, valueIn } from './chart-data.ts';

interface ChartTooltipProps {
  readonly row: ChartRow | undefined;
  readonly shown: readonly DrawnSeries[];
  readonly bucket: Bucket;
  readonly format: (value: number) => string;
  readonly stacked: boolean;
}

/** The values at one time, in stacking order. Screen readers announce changes. */
export function ChartTooltip({ row, shown, bucket, format, stacked }: ChartTooltipProps) {
  const ordered = stacked ? shown.toReversed() : shown;
  const total =
    row === undefined ? 0 : shown.reduce((sum, { column }) => sum + (valueIn(row, column) ?? 0), 0);
  return (
    <div role="status">
      {row === undefined ? null : (
        <div className="max-w-60 min-w-36 rounded-lg border bg-raised px-3 py-2 text-xs shadow-raised">
          <p className="mb-1 text-ink-faint">{formatBucket(row.at, bucket)}</p>
          <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-0.5">
            {ordered.map((each) => {
              const { key, label, column } = each;
              const value = valueIn(row, column);
              return (
                <div key={key} className="col-span-2 grid grid-cols-subgrid">
                  <dt className="flex min-w-0 items-center gap-1.5 text-ink-soft">
                    <span aria-hidden className="size-2 shrink-0 rounded-[2px]" style={swatchOf(each)} />
                    <span className="truncate">{label}</span>
                  </dt>
                  <dd className="text-right font-medium tabular-nums">
                    {value === null ? text.charts.empty : format(value)}
                  </dd>
                </div>
              );
            })}
            {stacked && shown.length > 1 ? (
              <div className="col-span-2 mt-1 grid grid-cols-subgrid border-t pt-1">
                <dt className="text-ink-soft">{text.charts.total}</dt>
                <dd className="text-right font-medium tabular-nums">{format(total)}</dd>
              </div>
            ) : null}
          </dl>
        </div>
      )}
    </div>
  );
}
