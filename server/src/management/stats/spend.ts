import type { Spend } from '@relay/contract';
import { nextWindowMs, windowStartMs } from '../../admission/calendar-window.ts';
import type { Caller } from '../../domain/caller.ts';
import { tellingForecast } from '../../domain/limits/forecast.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Handlers } from '../../http/call.ts';
import { BUCKET_MS } from '../../store/ledger/rollups/bucket.ts';
import { readSpend, type SpendDay } from '../../store/ledger/rollups/read-spend.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { shownSum, wireCosts } from '../resources/wire-cost.ts';
import { completeUntil } from './complete-until.ts';

/** Spend of today and of the month so far, with where the month will end. */
export function spendHandlers(
  deps: Pick<ManagementDeps, 'ofOrganization' | 'snapshots' | 'clock' | 'ledgerCompleteUntilMs'>,
): Pick<Handlers, 'getSpend'> {
  return {
    async getSpend({ caller }) {
      const { organizationId } = caller;
      const nowMs = deps.clock.nowMs();
      const userId = visibleUser(caller);
      const month = { startMs: windowStartMs('month', nowMs), endMs: nextWindowMs('month', nowMs) };
      const todayMs = windowStartMs('day', nowMs);
      const question = { organizationId, userId, fromMs: month.startMs };
      const days = await readSpend(deps.ofOrganization(organizationId), question);
      const sums = sumsOf(days);
      const budget = await budgetFor(deps, caller);
      const used = sums.cost_micros;
      const found = used === null ? null : tellingForecast({ ...month, used, limit: budget }, nowMs);
      return {
        at: timeOf(nowMs),
        ...completeUntil(deps),
        counted: userId === undefined ? 'organization' : 'own',
        today: {
          from: timeOf(todayMs),
          ...sumsOf(days.filter(({ bucket_start: at }) => at.getTime() === todayMs)),
        },
        month: {
          from: timeOf(month.startMs),
          to: timeOf(month.endMs),
          ...sums,
          forecast_micros: found === null ? null : Math.min(Number.MAX_SAFE_INTEGER, Math.round(found.atEnd)),
          budget_micros: budget,
          over_budget_at: found?.exhaustedMs == null ? null : timeOf(found.exhaustedMs),
          days: daily(days, month.startMs, todayMs),
        },
      };
    },
  };
}

/** Of callers that see only their own spend, the organization's budget is not the budget. */
async function budgetFor(
  { snapshots }: Pick<ManagementDeps, 'snapshots'>,
  caller: Caller,
): Promise<number | null> {
  const { organizationId, scopes } = caller;
  if (!scopes.has('relay:limits:read:organization') || visibleUser(caller) !== undefined) return null;
  return budgetOf(snapshots.get(organizationId) ?? (await snapshots.load(organizationId)));
}

/** The snapshot holds the limits that are enabled. */
function budgetOf({ limitPolicies }: OrganizationSnapshot): number | null {
  const budgets = limitPolicies.filter(
    ({ metric, period, scopeType }) =>
      METRICS[metric].quantity === 'spend' && period === 'month' && scopeType === 'global',
  );
  return budgets.length === 0 ? null : Math.min(...budgets.map(({ limitValue }) => limitValue));
}

function sumsOf(days: readonly SpendDay[]) {
  const sum = (of: 'cost_picos' | 'fallback_cost_picos') =>
    days.reduce((picos, day) => picos + BigInt(day[of]), 0n);
  const metered = days.reduce((count, day) => count + day.metered_requests, 0);
  const unpriced = days.reduce((count, day) => count + day.unpriced_requests, 0);
  const priced = days.reduce((count, day) => count + day.priced_attempts, 0);
  const sums = { cost: sum('cost_picos'), fallback_cost: sum('fallback_cost_picos') };
  return { ...wireCosts(sums, { priced, unpriced }), metered_requests: metered };
}

/** Also the days without requests. */
function daily(days: readonly SpendDay[], fromMs: number, todayMs: number): Spend['month']['days'] {
  const known = new Map(days.map((day) => [day.bucket_start.getTime(), day]));
  const length = (todayMs - fromMs) / BUCKET_MS.day + 1;
  return Array.from({ length }, (_, index) => {
    const day = known.get(fromMs + index * BUCKET_MS.day);
    if (day === undefined) return 0;
    const counts = { priced: day.priced_attempts, unpriced: day.unpriced_requests };
    return shownSum(BigInt(day.cost_picos), counts).micros;
  });
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
