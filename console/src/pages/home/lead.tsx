import { useQuery } from '@tanstack/react-query';
import { endpointsQuery, firstLimitUsageQuery, HEALTH_REFRESH } from '../../api/queries.ts';
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
import { isSpendKnown } from './known-spend.ts';
import { limitEnds, tightestOf } from './limit-ends.ts';
import { LimitSection } from './limit-section.tsx';
import { forecastOf, monthOf } from './month.ts';
import { isCalm, readStateOf } from './read-state.ts';
import { SpendSection } from './spend-section.tsx';
import type { Figure } from './use-home-figures.ts';

const words = text.home.lead;
const REFRESH_MS = 60_000;

interface LeadProps {
  readonly requests: Figure | undefined;
  readonly failed: Figure | undefined;
  /** The latest read of both failed; they are older. */
  readonly isOutdated: boolean;
  readonly range: TimeRange;
}

/** What is wrong and why, the next limit to run out, and the spend of the month; or that nothing is wrong. */
export function Lead({ requests, failed, isOutdated, range }: LeadProps) {
  const unwell = useUnwell();
  const limits = useLimits();
  const month = useMonth(limits.budgetMicros);
  const causes = useCauses(range, (failed?.value ?? 0) > 0);
  if (requests === undefined || failed === undefined) return <LeadSkeleton />;
  if (unwell.state === 'loading' || limits.state === 'loading') return <LeadSkeleton />;
  const calm = isCalm({
    states: [isOutdated ? 'failed' : 'read', unwell.state, limits.state],
    troubles: [failed.value, unwell.endpoints.length, limits.ends.length],
  });
  return (
    <>
      {calm ? (
        <Calm
          requests={requests.value}
          knowsEndpoints={unwell.state === 'read'}
          knowsLimits={limits.isWhole}
        />
      ) : null}
      <div className={calm ? TWO : THREE}>
        {calm ? null : (
          <FailedSection requests={requests} failed={failed} causes={causes} unwell={unwell.endpoints} />
        )}
        {limits.isWhole || limits.tightest.length > 0 ? (
          <LimitSection ends={limits.ends} tightest={limits.tightest} isWhole={limits.isWhole} />
        ) : null}
        {month === undefined ? null : (
          <SpendSection
            {...month}
            isKnown={
              // The number of requests is at hand only for the range.
              Date.parse(range.from) < monthOf(month.nowMs).startMs ||
              isSpendKnown(month.forecast.spentMicros, requests.value, failed.value)
            }
            budgetMicros={limits.budgetMicros}
            knowsBudget={limits.isWhole}
          />
        )}
      </div>
    </>
  );
}

const TWO = 'grid gap-x-7 gap-y-5 lg:grid-cols-2';
const THREE = 'grid gap-x-7 gap-y-5 lg:grid-cols-2 xl:grid-cols-[1.28fr_1fr_1fr]';

/** Short, since there is nothing to do. It says nothing about what the caller cannot read. */
function Calm({ requests, knowsEndpoints, knowsLimits }: CalmProps) {
  const known = [
    words.calmRequests(requests),
    ...(knowsEndpoints ? [words.calmEndpoints] : []),
    ...(knowsLimits ? [words.calmLimits] : []),
  ];
  return (
    <section className="flex items-center gap-3.5 border-t-2 border-good pt-3">
      <Lights tone="good" className="size-[30px]" />
      <p className="text-xl leading-[28px] text-pretty">
        <b className="font-semibold">{words.calm}</b> {known.join(' ')}
      </p>
    </section>
  );
}

interface CalmProps {
  readonly requests: number;
  readonly knowsEndpoints: boolean;
  readonly knowsLimits: boolean;
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

/** Enabled endpoints that are not healthy; after a failed read, those of the last one. */
function useUnwell() {
  const enabled = useAccess().can('listEndpoints');
  const answer = useQuery({ ...endpointsQuery(useApi()), ...HEALTH_REFRESH, enabled });
  return {
    state: readStateOf(enabled, answer),
    endpoints: answer.data?.filter((each) => each.enabled && isUnwell(each.health)) ?? [],
  };
}

function useLimits() {
  const { can, holds } = useAccess();
  const enabled = can('listLimitUsage');
  const answer = useQuery({ ...firstLimitUsageQuery(useApi()), enabled });
  const all = answer.data?.limits ?? [];
  const budgets = all.filter(
    ({ metric, period, scope_type: scope, policy_kind: kind }) =>
      metric === 'spend' && period === 'month' && scope === 'global' && kind === 'resource',
  );
  return {
    state: readStateOf(enabled, answer),
    /** Whether these are all limits of the organization. Without the scope, the caller reads only its own. */
    isWhole: holds('relay:limits:read:organization') && answer.data?.isWhole === true,
    ends: limitEnds(all, answer.dataUpdatedAt),
    tightest: tightestOf(all),
    budgetMicros: budgets.length === 0 ? null : Math.min(...budgets.map(({ limit }) => limit)),
  };
}

/** The spend of each day of the month, and its forecast; undefined while loading. */
function useMonth(budgetMicros: number | null) {
  const nowMs = useNow(REFRESH_MS);
  const from = new Date(monthOf(nowMs).startMs).toISOString();
  const { data } = useQuery({
    ...timeseriesQuery(useApi(), { metric: 'cost_micros', bucket: 'day', from }),
    refetchInterval: REFRESH_MS,
  });
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
