import type { Timeseries } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import type { UsageSearch } from '../../address/usage-search.ts';
import { formatMoneyShort, formatShare } from '../../format/numbers.ts';
import { seriesKey, seriesLabel } from '../../parts/usage-series.ts';
import { useKeylessName } from '../../session/use-keyless-name.ts';
import { text } from '../../text/index.ts';
import { Meter } from '../../ui/meter.tsx';
import { Panel } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';

const words = text.home;
const ROWS = 5;

interface TopListProps {
  readonly title: string;
  readonly group: 'model';
  /** With the totals of the range; undefined while loading. */
  readonly series: Timeseries['series'] | undefined;
}

/** The top spenders with their shares, and a link to the full list. */
export function TopList({ title, group, series }: TopListProps) {
  const keyless = useKeylessName();
  const all = series?.reduce((sum, { total }) => sum + (total ?? 0), 0) ?? 0;
  const isUnpriced = series?.some(({ unpriced_requests: unpriced = 0 }) => unpriced > 0) === true;
  const rows = series
    ?.filter(({ total }) => (total ?? 0) > 0)
    .toSorted((a, b) => (b.total ?? 0) - (a.total ?? 0))
    .slice(0, ROWS);
  return (
    <Panel title={title} actions={<ViewAll group={group} title={title} />}>
      {rows?.length === 0 ? (
        <p className="px-4 py-3 text-ink-soft">{isUnpriced ? text.unpriced.noPriceHint : words.noSpend}</p>
      ) : (
        <ul className="mx-4">
          {(rows ?? SKELETONS).map((each, index) =>
            each === null ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same and never move
              <li key={index} className="flex h-[34px] items-center justify-between border-b">
                <Skeleton className="w-32" />
                <Skeleton className="w-16" />
              </li>
            ) : (
              <TopRow
                key={seriesKey(each)}
                label={seriesLabel(each, group, keyless)}
                total={each.total ?? 0}
                share={(each.total ?? 0) / all}
                // There is no filter for a model.
                search={{ by: group }}
              />
            ),
          )}
        </ul>
      )}
    </Panel>
  );
}

const SKELETONS: readonly null[] = Array.from({ length: ROWS }, () => null);

interface TopRowProps {
  readonly label: string;
  readonly total: number;
  readonly share: number;
  readonly search: UsageSearch;
}

function TopRow({ label, total, share, search }: TopRowProps) {
  return (
    <li className="relative grid h-[34px] grid-cols-[minmax(0,1fr)_auto_44px_48px] items-center gap-3 border-b hover:bg-hover">
      <Link
        to="/usage"
        search={search}
        title={label}
        className="truncate font-medium after:absolute after:inset-0 after:content-['']"
      >
        {label}
      </Link>
      <span>{formatMoneyShort(total)}</span>
      <Meter share={share} />
      <span className="text-right text-xs text-ink-faint">{formatShare(share)}</span>
    </li>
  );
}

/** The link of a section to its figure in Usage. */
export function ViewAll({ group, title }: { readonly group: 'api_key' | 'model'; readonly title: string }) {
  return (
    <Link to="/usage" search={{ by: group }} className="text-xs link">
      {words.viewAll}
      <span className="sr-only"> {title}</span>
    </Link>
  );
}
