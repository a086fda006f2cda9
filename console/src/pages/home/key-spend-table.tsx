import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { formatChange, formatCount, formatMoneyShort, formatShare } from '../../format/numbers.ts';
import { seriesKey, seriesLabel } from '../../parts/usage-series.ts';
import { useKeylessName } from '../../session/use-keyless-name.ts';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { classes } from '../../ui/class-names.ts';
import { Meter } from '../../ui/meter.tsx';
import { Panel } from '../../ui/page.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { type KeySpend, keySpends } from './key-spend.ts';
import { ViewAll } from './top-list.tsx';
import type { useHomeFigures } from './use-home-figures.ts';

const words = text.home;
const ROWS = 5;

interface KeySpendTableProps {
  readonly figures: Pick<ReturnType<typeof useHomeFigures>, 'keys' | 'keyRequests'>;
  readonly range: TimeRange;
}

/** The keys that spent most, with their requests, share and change. */
export function KeySpendTable({ figures: { keys, keyRequests }, range }: KeySpendTableProps) {
  const rows = useMemo(
    () => keys.data && keyRequests.data && keySpends(keys.data, keyRequests.data, range, ROWS),
    [keys.data, keyRequests.data, range],
  );
  return (
    <Panel
      title={words.topKeys}
      actions={<ViewAll group="api_key" title={words.topKeys} />}
      className="lg:col-span-2 xl:col-span-1"
    >
      {rows?.length === 0 ? (
        <p className="px-4 py-3 text-ink-soft">{words.noSpend}</p>
      ) : (
        <div className="px-4">
          <table className="w-full border-collapse text-left" aria-busy={rows === undefined || undefined}>
            <caption className="sr-only">{words.topKeys}</caption>
            <thead>
              <tr className="border-b">
                <Head>{words.keys.key}</Head>
                <Head right>{words.keys.requests}</Head>
                <Head right>{words.keys.spend}</Head>
                <Head right>{words.keys.share}</Head>
                <Head right narrow={false}>
                  {words.keys.change}
                </Head>
              </tr>
            </thead>
            <tbody>
              {rows === undefined
                ? SKELETONS.map((key) => (
                    <tr key={key} className="h-[34px] border-b">
                      <td colSpan={5}>
                        <Skeleton className="w-40" />
                      </td>
                    </tr>
                  ))
                : rows.map((row) => (
                    <KeyRow key={row.series === null ? 'others' : seriesKey(row.series)} row={row} />
                  ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

const SKELETONS = ['a', 'b', 'c', 'd', 'e'];

function Head({ children, right = false, narrow = true }: HeadProps) {
  return (
    <th
      scope="col"
      className={classes(
        'h-[26px] pr-3 text-xs font-medium text-ink-faint last:pr-0',
        right && 'text-right',
        !narrow && 'max-sm:hidden',
      )}
    >
      {children}
    </th>
  );
}

interface HeadProps {
  readonly children: string;
  readonly right?: boolean;
  /** Whether narrow windows have it. */
  readonly narrow?: boolean;
}

function KeyRow({ row: { series, count, requests, costMicros, share, change } }: { readonly row: KeySpend }) {
  const keyless = useKeylessName();
  const label =
    series === null
      ? count === null
        ? text.charts.other
        : words.keys.others(formatCount(count))
      : seriesLabel(series, 'api_key', keyless);
  const isKey = series?.kind === 'group' && series.key !== null;
  return (
    <tr className="relative h-[34px] border-b tabular-nums hover:bg-hover">
      <td className="w-full max-w-0 min-w-28 pr-3">
        <Link
          to="/usage"
          search={isKey ? { key: series.key ?? '' } : { by: 'api_key' }}
          className="block truncate font-medium after:absolute after:inset-0 after:content-['']"
          title={label}
        >
          {label}
        </Link>
      </td>
      <td className="pr-3">
        <span className="flex items-center justify-end gap-2.5">
          <span className="max-sm:hidden">{requests === null ? null : <Sparkline values={requests} />}</span>
          <span className="min-w-11 text-right">
            {requests === null
              ? text.states.empty
              : formatCount(requests.reduce((sum, value) => sum + value, 0))}
          </span>
        </span>
      </td>
      <td className="pr-3 text-right">{formatMoneyShort(costMicros)}</td>
      <td className="pr-3">
        <span className="flex items-center justify-end gap-2">
          <Meter share={share} className="w-9 max-sm:hidden" />
          <span className="w-11 text-right text-xs text-ink-faint">{formatShare(share)}</span>
        </span>
      </td>
      <td className="text-right text-xs text-ink-soft max-sm:hidden">
        {change === null ? <span className="text-ink-faint">{words.none}</span> : formatChange(change)}
      </td>
    </tr>
  );
}
