import type { Health, HealthDetail } from '@relay/contract';
import { NOTHING_SEEN, type SeenHealth } from './health-view.ts';

const UNWELL: ReadonlySet<Health> = new Set(['degraded', 'down', 'rate_limited']);

/** The health of a provider as its enabled endpoints show it. Endpoints that nothing was sent to say nothing. */
export function providerHealth(endpoints: readonly SeenHealth[]): Pick<SeenHealth, 'health' | 'detail'> {
  const seen = endpoints.filter(({ health }) => health !== 'unknown');
  if (seen.length === 0) return NOTHING_SEEN;
  const unwell = seen.filter(({ health }) => UNWELL.has(health));
  const [only] = seen;
  const isOne = seen.every(({ health }) => health === only?.health);
  const health = isOne && only !== undefined ? only.health : unwell.length > 0 ? 'degraded' : 'healthy';
  const shown = unwell.length > 0 ? unwell : seen;
  return {
    health,
    detail: {
      ...sums(seen),
      reason: unwell.length === 0 ? null : reasonOf(unwell, seen.length),
      // It is down since the last of its endpoints is, and no longer well since the first of them is not.
      since: sinceOf(shown, isOne),
    },
  };
}

function sums(seen: readonly SeenHealth[]): Pick<HealthDetail, 'requests' | 'error_share' | 'last_error'> {
  const requests = seen.reduce((sum, { detail }) => sum + detail.requests, 0);
  const failed = seen.reduce((sum, { detail }) => sum + detail.requests * (detail.error_share ?? 0), 0);
  const errors = seen.flatMap(({ detail }) => detail.last_error ?? []);
  return {
    requests,
    error_share: requests === 0 ? null : Math.round((failed / requests) * 1_000) / 1_000,
    last_error: errors.toSorted((a, b) => (a.at < b.at ? 1 : -1))[0] ?? null,
  };
}

function reasonOf(unwell: readonly SeenHealth[], seen: number): string {
  const reasons = new Set(unwell.flatMap(({ detail }) => detail.reason ?? []));
  const [only] = reasons;
  if (reasons.size === 1 && only !== undefined && unwell.length === seen) return only;
  const which = `${unwell.length} of ${seen} endpoints`;
  if (only === undefined) return `${which} ${unwell.length === 1 ? 'is' : 'are'} not healthy`;
  return `${which}: ${[...reasons].slice(0, 3).join('; ')}`;
}

function sinceOf(shown: readonly SeenHealth[], latest: boolean): string | null {
  const times = shown.flatMap(({ detail }) => detail.since ?? []).sort();
  return (latest ? times.at(-1) : times[0]) ?? null;
}
