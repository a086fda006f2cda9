import type { ConfigLimitPolicy } from '@relay/contract';
import { microsOf, periodOf } from './amounts.ts';
import type { Resources } from './resources.ts';
import type { Source } from './source.ts';

type Scope = Pick<ConfigLimitPolicy, 'scope_type' | 'scope'>;

/** The limits of one entry of `model_list`: requests and tokens per minute, and its budget. */
export function limitDeployment(source: Source, resources: Resources, at: string, endpoint: string): void {
  const scope: Scope = { scope_type: 'endpoint', scope: endpoint };
  const params = `${at}.litellm_params`;
  for (const [name, metric] of [
    ['rpm', 'requests'],
    ['tpm', 'tokens'],
  ] as const) {
    // LiteLLM also accepts them next to `litellm_params`.
    const value = source.takeNumber(`${params}.${name}`) ?? source.takeNumber(`${at}.${name}`);
    if (value !== undefined)
      resources.limit({ ...scope, metric, period: 'minute', limit_value: Math.floor(value) });
  }
  budget(source, resources, `${params}.max_budget`, `${params}.budget_duration`, scope);
}

/** The budgets of the proxy and of providers. */
export function readBudgets(source: Source, resources: Resources): void {
  const settings = 'litellm_settings';
  budget(source, resources, `${settings}.max_budget`, `${settings}.budget_duration`, {
    scope_type: 'global',
  });
  const providers = 'router_settings.provider_budget_config';
  for (const kind of source.keys(providers)) {
    const at = `${providers}.${kind}`;
    const slugs = resources.providersOf(kind);
    if (slugs.length === 0) {
      source.remark('not_imported', at, `No imported model uses ${kind}, so there is nothing to limit.`);
      continue;
    }
    for (const slug of slugs)
      budget(source, resources, amountPath(source, at), durationPath(source, at), {
        scope_type: 'provider',
        scope: slug,
      });
    if (slugs.length > 1)
      source.remark(
        'changed',
        at,
        `${kind} became ${slugs.length} providers, one per base URL. Each gets the full budget, so together they can exceed it.`,
      );
  }
  const parallel = source.takeNumber('general_settings.global_max_parallel_requests');
  if (parallel)
    resources.limit({
      scope_type: 'global',
      metric: 'concurrency',
      period: 'none',
      limit_value: Math.floor(parallel),
    });
}

/** LiteLLM has two spellings for each. */
function amountPath(source: Source, at: string): string {
  return source.look(`${at}.budget_limit`) === undefined ? `${at}.max_budget` : `${at}.budget_limit`;
}

function durationPath(source: Source, at: string): string {
  return source.look(`${at}.time_period`) === undefined ? `${at}.budget_duration` : `${at}.time_period`;
}

function budget(
  source: Source,
  resources: Resources,
  amountAt: string,
  durationAt: string,
  scope: Scope,
): void {
  const dollars = source.takeNumber(amountAt);
  const duration = source.takeText(durationAt);
  if (dollars === undefined) {
    if (duration !== undefined) source.remark('not_imported', durationAt, 'It needs max_budget next to it.');
    return;
  }
  if (duration === undefined) {
    source.remark('not_imported', amountAt, 'Relay budgets need a window; this one has no budget_duration.');
    return;
  }
  const window = periodOf(duration);
  if (window === null) {
    const reason = `Relay counts by the second, minute, hour, day, week or month, not by ${duration}.`;
    source.remark('not_imported', amountAt, reason);
    return;
  }
  if (!window.isExact) source.remark('changed', durationAt, 'It becomes a calendar month, in UTC.');
  // LiteLLM takes a model without a price as free, and what it served is still to be served.
  const unpriced = 'allow' as const;
  resources.limit({
    ...scope,
    metric: 'spend',
    period: window.period,
    limit_value: microsOf(dollars),
    unpriced,
  });
}
