import { useQuery } from '@tanstack/react-query';
import { endpointsQuery, HEALTH_REFRESH, limitUsageQuery } from '../../api/queries.ts';
import { failedRequestsQuery } from '../../api/request-queries.ts';
import { timeseriesQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { Lights } from '../../ui/signal.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { useNow } from '../../ui/use-now.ts';
import { causesOf } from './causes.ts';
import { FailedSection } from './failed-section.tsx';
import { limitEnds, tightestOf } from './limit-ends.ts';
import { LimitSection } from './limit-section.tsx';
import { forecastOf, monthOf } from './month.ts';
import { SpendSection } from './spend-section.tsx';
import type { Figure } from './use-home-figures.ts';

const words = text.home.lead;
const REFRESH_MS = 60_000;

interface LeadProps {
  readonly requests: Figure | undefined;
  readonly failed: Figure | undefined;
  readonly range: TimeRange;
}

/** What is wrong and why, the next limit to run out, and the spend of the month; or that nothing is wrong. */
export function Lead({ requests, failed, range }: LeadProps) {
  const unwell = useUnwell();
  const limits = useLimits();
  const month = useMonth(limits?.budgetMicros ?? null);
  const causes = useCauses(range, (failed?.value ?? 0) > 0);
  if (requests === undefined || failed === undefined || unwell === undefined || limits === undefined)
    return <LeadSkeleton />;
  const isCalm = failed.value === 0 && unwell.length === 0 && limits.ends.length === 0;
  const spend = month === undefined ? null : <SpendSection {...month} budgetMicros={limits.budgetMicros} />;
  return (
    <>
      {isCalm ? <Calm requests={requests.value} /> : null}
      <div className={isCalm ? TWO : THREE}>
        {isCalm ? null : (
          <FailedSection requests={requests} failed={failed} causes={causes} unwell={unwell} />
        )}
        <LimitSection ends={limits.ends} tightest={limits.tightest} />
        {spend}
      </div>
    </>
  );
}

const TWO = 'grid gap-x-7 gap-y-5 lg:grid-cols-2';
const THREE = 'grid gap-x-7 gap-y-5 lg:grid-cols-2 xl:grid-cols-[1.28fr_1fr_1fr]';

/** One sentence, since there is nothing to do. */
function Calm({ requests }: { readonly requests: number }) {
  return (
    <section className="flex items-center gap-3.5 border-t-2 border-good pt-3">
      <Lights tone="good" className="size-[30px]" />
      <p className="text-xl leading-[28px] text-pretty">
        <b className="font-semibold">{words.calm}</b> {words.calmRequests(requests)} {words.calmEndpoints}{' '}
        {words.calmLimits}
      </p>
    </section>
  );
}

function LeadSkeleton() {
  return (
    <div className={THREE}>
      {['a', 'b', 'c'].map((key) => (
        <div key={key} className="h-[180px] space-y-4 border-t-2 border-rule pt-3">
          <Skeleton className="w-28" />
          <Skeleton className="h-6 w-40" />
          <Skeleton className="w-full" />
        </div>
      ))}
    </div>
  );
}

/** Enabled endpoints that are not healthy; undefined while loading, none without access. */
function useUnwell() {
  const enabled = useAccess().can('listEndpoints');
  const { data, error } = useQuery({ ...endpointsQuery(useApi()), ...HEALTH_REFRESH, enabled });
  if (!enabled || error !== null) return [];
  return data?.filter((each) => each.enabled && isUnwell(each.health));
}

function useLimits() {
  const enabled = useAccess().can('listLimitUsage');
  const { data, error, dataUpdatedAt } = useQuery({ ...limitUsageQuery(useApi()), enabled });
  const all = !enabled || error !== null ? [] : data;
  if (all === undefined) return undefined;
  const budgets = all.filter(
    ({ metric, period, scope_type: scope, policy_kind: kind }) =>
      metric === 'spend' && period === 'month' && scope === 'global' && kind === 'resource',
  );
  return {
    ends: limitEnds(all, dataUpdatedAt),
    tightest: tightestOf(all),
    budgetMicros: budgets.length === 0 ? null : Math.min(...budgets.map(({ limit }) => limit)),
  };
}

/** The spend of each day of the month, and its forecast; undefined while loading. */
function useMonth(budgetMicros: number | null) {
  const nowMs = useNow(REFRESH_MS);
  const from = new Date(monthOf(nowMs).startMs).toISOString();
  const { data } = useQuery(timeseriesQuery(useApi(), { metric: 'cost_micros', bucket: 'day', from }));
  const [series] = data?.series ?? [];
  if (series === undefined) return undefined;
  const days = series.points.map(({ value }) => value ?? 0);
  return { days, nowMs, forecast: forecastOf(series.total ?? 0, budgetMicros, nowMs) };
}

function useCauses({ from, to }: TimeRange, isNeeded: boolean) {
  const enabled = useAccess().can('listRequests') && isNeeded;
  const { data } = useQuery({ ...failedRequestsQuery(useApi(), { from, to }), enabled });
  return data === undefined ? undefined : causesOf(data);
}
