import type { NextLimit } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { nextLimitsQuery } from '../../api/limit-queries.ts';
import { endpointsQuery, HEALTH_REFRESH } from '../../api/queries.ts';
import { spendQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { Lights } from '../../ui/signal.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { BlockedLink } from './blocked-link.tsx';
import { FailedSection } from './failed-section.tsx';
import { LimitSection } from './limit-section.tsx';
import { isCalm, readStateOf } from './read-state.ts';
import { SpendSection } from './spend-section.tsx';
import { useFailingLanes } from './use-failing-lanes.ts';
import { troubleOf, useFailures } from './use-failures.ts';
import type { Figure } from './use-home-figures.ts';

const words = text.home.lead;
const REFRESH_MS = 60_000;

interface LeadProps {
  readonly requests: Figure | undefined;
  readonly failed: Figure | undefined;
  /** The latest read of both failed, or the ledger misses requests: they are older. */
  readonly isOutdated: boolean;
  readonly range: TimeRange;
}

/** What is wrong and why, the next limit to run out, and the spend of the month; or that nothing is wrong. */
export function Lead({ requests, failed, isOutdated, range }: LeadProps) {
  const endpoints = useEndpoints();
  const limits = useLimits();
  const { data: spend, isLoading: isSpendLoading } = useQuery({
    ...spendQuery(useApi()),
    refetchInterval: REFRESH_MS,
  });
  const { failures, blocked, areFailuresLoading } = useFailures(range);
  const lanes = useFailingLanes(range);
  // All of it together: what comes later would push the page down under the reader.
  const isLoading =
    isSpendLoading ||
    areFailuresLoading ||
    lanes === undefined ||
    endpoints.state === 'loading' ||
    limits.state === 'loading';
  if (isLoading || requests === undefined || failed === undefined) return <LeadSkeleton />;
  const trouble = troubleOf(failed, blocked);
  const ends = limits.limits.filter(({ runs_out_at: at }) => at !== null);
  const unwell = endpoints.list.filter(({ health }) => isUnwell(health));
  const calm = isCalm({
    states: [isOutdated ? 'failed' : 'read', endpoints.state, limits.state],
    troubles: [trouble.value, unwell.length, ends.length],
  });
  return (
    <>
      {calm ? (
        <Calm
          requests={requests.value}
          blocked={blocked.now}
          knowsEndpoints={endpoints.state === 'read'}
          knowsLimits={limits.isWhole}
        />
      ) : null}
      <div className={calm ? TWO : THREE}>
        {calm ? null : (
          <FailedSection
            requests={requests}
            failed={trouble}
            blocked={blocked.now}
            failures={failures}
            lanes={lanes}
            endpoints={endpoints.list}
            range={range}
          />
        )}
        {limits.isWhole || limits.total > 0 ? (
          <LimitSection limits={limits.limits} isWhole={limits.isWhole} total={limits.total} />
        ) : null}
        {spend === undefined ? null : <SpendSection spend={spend} knowsBudget={limits.isWhole} />}
      </div>
    </>
  );
}

const TWO = 'grid gap-x-7 gap-y-5 lg:grid-cols-2';
const THREE = 'grid gap-x-7 gap-y-5 lg:grid-cols-2 xl:grid-cols-[1.28fr_1fr_1fr]';

/** Short, since there is nothing to do. It says nothing about what the caller cannot read. */
function Calm({ requests, blocked, knowsEndpoints, knowsLimits }: CalmProps) {
  const known = [
    words.calmRequests(requests),
    ...(knowsEndpoints ? [words.calmEndpoints] : []),
    ...(knowsLimits ? [words.calmLimits] : []),
  ];
  return (
    <section className="flex items-center gap-3.5 border-t-2 border-good pt-3">
      <Lights tone="good" className="size-[30px]" />
      <p className="text-xl leading-[28px] text-pretty">
        <b className="font-semibold">{words.calm}</b> {known.join(' ')}{' '}
        {blocked === 0 ? null : <BlockedLink blocked={blocked} />}
      </p>
    </section>
  );
}

interface CalmProps {
  readonly requests: number;
  readonly blocked: number;
  readonly knowsEndpoints: boolean;
  readonly knowsLimits: boolean;
}

function LeadSkeleton() {
  return (
    <div className={THREE}>
      {['a', 'b', 'c'].map((key) => (
        <div key={key} className="h-[180px] space-y-4 xl:h-[340px] border-t-2 border-rule pt-3">
          <Skeleton className="w-28" />
          <Skeleton className="h-6 w-40" />
          <Skeleton className="w-full" />
        </div>
      ))}
    </div>
  );
}

/** Enabled endpoints; after a failed read, those of the last one. */
function useEndpoints() {
  const enabled = useAccess().can('listEndpoints');
  const answer = useQuery({ ...endpointsQuery(useApi()), ...HEALTH_REFRESH, enabled });
  return {
    state: readStateOf(enabled, answer),
    list: answer.data?.filter(({ enabled: isOn }) => isOn) ?? [],
  };
}

/** The limits that run out next, and else the tightest. */
function useLimits() {
  const enabled = useAccess().can('getNextLimits');
  const answer = useQuery({ ...nextLimitsQuery(useApi()), enabled });
  const { data } = answer;
  return {
    state: readStateOf(enabled, answer),
    /** Whether these are of all limits of the organization. Without the scope, the caller reads only its own. */
    isWhole: data?.counted === 'organization' && data.complete,
    total: data?.total ?? 0,
    limits: data?.limits ?? NO_LIMITS,
  };
}

const NO_LIMITS: readonly NextLimit[] = [];
