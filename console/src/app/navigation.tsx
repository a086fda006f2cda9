import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { nextLimitsQuery } from '../api/limit-queries.ts';
import { statsSummaryQuery } from '../api/usage-queries.ts';
import { useApi } from '../api/use-api.ts';
import { formatCount } from '../format/numbers.ts';
import { keysOf } from '../format/values.ts';
import { isUnwell } from '../parts/health-order.ts';
import { haveRejected } from '../parts/limit-metrics.ts';
import { useAccess } from '../session/use-access.ts';
import { usePages } from '../session/use-pages.ts';
import { text } from '../text/index.ts';
import { Lights } from '../ui/signal.tsx';
import { useNow } from '../ui/use-now.ts';
import type { Totals } from './use-totals.ts';

const words = text.shell;
/** One read is of all limits, up to 10,000. Home, whose figures it shares, reads more often. */
const READ_MS = 300_000;
/** How often the moment of a limit is compared with the clock. */
const LIMITS_MS = 15_000;
const GROUPS = keysOf(words.groups);

interface NavigationProps {
  readonly totals: Totals;
  readonly onNavigate?: () => void;
}

/** Words and live counts, no icons. */
export function Navigation({ totals, onNavigate }: NavigationProps) {
  const pages = usePages();
  const counts = useCounts(totals);
  const limits = useLimitTrouble();
  const unwell = unwellOf(totals).length;
  const marks: Readonly<Record<string, ReactNode>> = {
    ...counts,
    '/limits': limits === null ? null : <Lights tone={limits === 'rejecting' ? 'bad' : 'warn'} />,
  };
  const notes: Readonly<Record<string, string | undefined>> = {
    ...(unwell === 0 ? {} : { '/endpoints': words.notHealthy(unwell) }),
    ...(limits === null ? {} : { '/limits': words.limits[limits] }),
  };
  return (
    <nav aria-label={words.navigation} className="flex-1 overflow-y-auto px-2.5 py-3">
      {GROUPS.map((group) => {
        const ofGroup = pages.filter((page) => page.group === group);
        if (ofGroup.length === 0) return null;
        return (
          <div key={group} className="not-first:mt-3">
            <h2
              className={
                group === 'overview' ? 'sr-only' : 'mb-0.5 px-2 text-[11px] leading-4 text-ink-faint'
              }
            >
              {words.groups[group]}
            </h2>
            <ul>
              {ofGroup.map(({ path, label }) => (
                <li key={path}>
                  <Link
                    to={path}
                    onClick={() => onNavigate?.()}
                    activeOptions={{ includeSearch: false }}
                    className="flex h-[26px] items-center justify-between gap-2 rounded-lg px-2 text-ink-soft hover:bg-hover hover:text-ink max-lg:h-9"
                    activeProps={{
                      className: '!bg-here !text-on-here font-medium [&_*]:!text-on-here [&_svg]:hidden',
                    }}
                  >
                    {label}
                    {marks[path]}
                  </Link>
                  {notes[path] === undefined ? null : <span className="sr-only">{notes[path]}</span>}
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/**
 * What stands beside a page's name. The names of the links stay the same; the strip says the numbers, and the
 * number of unhealthy endpoints follows its link.
 */
function useCounts(totals: Totals): Readonly<Record<string, ReactNode>> {
  const { can } = useAccess();
  const { data } = useQuery({ ...statsSummaryQuery(useApi()), enabled: can('getStatsSummary') });
  const { waiting } = totals;
  const unwell = unwellOf(totals);
  const isDown = unwell.some(({ health }) => health === 'down');
  return {
    '/live':
      typeof waiting !== 'number' || waiting === 0 ? null : (
        <span aria-hidden className="text-xs text-ink-faint">
          <b className="font-semibold text-wait-ink">{formatCount(waiting)}</b> {words.waiting}
        </span>
      ),
    '/lanes': <Count of={data?.lanes} />,
    '/endpoints':
      unwell.length === 0 ? (
        <Count of={data?.endpoints} />
      ) : (
        <span aria-hidden className="flex items-center gap-1 text-xs text-ink-faint">
          {formatCount(unwell.length)}
          <Lights tone={isDown ? 'bad' : 'warn'} />
        </span>
      ),
    '/providers': <Count of={data?.providers} />,
  };
}

/** Whether a limit rejects requests, is reached, or will be before it resets; null if none is or the caller can’t read limits. */
function useLimitTrouble(): keyof typeof words.limits | null {
  const enabled = useAccess().can('getNextLimits');
  const { data } = useQuery({ ...nextLimitsQuery(useApi()), enabled, refetchInterval: READ_MS });
  const nowMs = useNow(LIMITS_MS);
  // The first to be reached comes first.
  const at = data?.limits[0]?.runs_out_at ?? null;
  if (data === undefined || at === null) return null;
  // What was reached when the server answered is reached, whatever this browser's clock says.
  const readMs = Math.max(nowMs, Date.parse(data.at));
  if (Date.parse(at) > readMs) return 'ending';
  const reached = data.limits.filter(
    ({ runs_out_at: outAt }) => outAt !== null && Date.parse(outAt) <= readMs,
  );
  return haveRejected(reached, readMs) ? 'rejecting' : 'reached';
}

function unwellOf({ endpoints }: Totals): Totals['endpoints'] {
  return endpoints.filter(({ health }) => isUnwell(health));
}

function Count({ of }: { readonly of: number | undefined }) {
  return of === undefined || of === 0 ? null : (
    <span aria-hidden className="text-xs text-ink-faint">
      {formatCount(of)}
    </span>
  );
}
