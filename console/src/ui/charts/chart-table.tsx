import type { Bucket } from '../../format/times.ts';
import { formatBucket } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { type ChartRow, type DrawnSeries, endOf, valueIn } from './chart-data.ts';

interface ChartTableProps {
  readonly title: string;
  readonly unit: string;
  readonly bucket: Bucket;
  readonly format: (value: number) => string;
  readonly drawn: readonly DrawnSeries[];
  readonly rows: readonly ChartRow[];
  readonly heightPx: number;
  readonly onSelect?: (from: string, to: string) => void;
}

/** The chart as a table, newest first. In charts with selection, the time of a row is a button. */
export function ChartTable({
  title,
  unit,
  bucket,
  format,
  drawn,
  rows,
  heightPx,
  onSelect,
}: ChartTableProps) {
  const newestFirst = rows.toReversed();
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must be able to
      tabIndex={0}
      aria-label={text.charts.asTableOf(title)}
      className="overflow-auto focus-visible:-outline-offset-2"
      style={{ maxHeight: heightPx + 44 }}
    >
      <table className="w-full border-collapse text-left text-[13px]">
        <caption className="sr-only">{`${title} (${unit})`}</caption>
        <thead className="sticky top-0 z-10 bg-canvas text-xs text-ink-faint shadow-[inset_0_-1px_0_var(--line-strong)]">
          <tr>
            <th scope="col" className="h-[30px] pr-2.5 font-medium whitespace-nowrap">
              {bucket === 'day' ? text.charts.utcDays : text.charts.time}
            </th>
            {drawn.map((each) => (
              <th
                key={each.key}
                scope="col"
                className="px-2.5 text-right font-medium whitespace-nowrap last:pr-0"
              >
                {drawn.length === 1 ? unit : each.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newestFirst.map((row) => (
            <tr key={row.at} className="border-b last:border-b-0 hover:bg-hover/60">
              <th scope="row" className="h-[28px] pr-2.5 font-normal whitespace-nowrap text-ink-soft">
                {onSelect === undefined ? (
                  <time dateTime={row.at}>{formatBucket(row.at, bucket)}</time>
                ) : (
                  <button
                    type="button"
                    className="underline decoration-line-strong underline-offset-2 hover:text-ink"
                    onClick={() => onSelect(row.at, endOf(row.at, bucket))}
                  >
                    <time dateTime={row.at}>{formatBucket(row.at, bucket)}</time>
                  </button>
                )}
              </th>
              {drawn.map((each) => {
                const value = valueIn(row, each.column);
                return (
                  <td key={each.key} className="px-2.5 text-right whitespace-nowrap tabular-nums last:pr-0">
                    {value === null ? text.charts.empty : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
