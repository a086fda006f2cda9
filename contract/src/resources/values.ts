import type { Static } from 'typebox';
import { oneOf } from '../schema.ts';

/** Enumerations that several resources share. */
export const Health = oneOf(['healthy', 'rate_limited', 'cooling_down', 'unhealthy']);

/** Every metric that a limit can count. `server/src/domain/limits/metric.ts` says how each is counted. */
export const limitMetrics = ['requests', 'tokens', 'spend', 'concurrency'] as const;
export type LimitMetric = (typeof limitMetrics)[number];
export const LimitMetric = oneOf(limitMetrics, {
  description: 'What is counted; `spend` is in micro-USD. `concurrency` goes with period `none`.',
});

export const limitPeriods = ['second', 'minute', 'hour', 'day', 'month', 'none'] as const;
export type LimitPeriod = (typeof limitPeriods)[number];
export const LimitPeriod = oneOf(limitPeriods, {
  description: 'The window; `none` with metric `concurrency` only.',
});

export const TargetType = oneOf(['global', 'provider', 'model', 'lane'], {
  description: '`model` targets one endpoint.',
});

export const PolicyScopeType = oneOf(['global', 'provider', 'credential', 'endpoint', 'lane']);

export const ManagedBy = oneOf(['file'], {
  description: 'There when the configuration file owns it; other writers then get 409 `managed_by_file`.',
});

export const Role = oneOf(['owner', 'admin', 'developer', 'viewer', 'billing']);

export const UserStatus = oneOf(['active', 'invited', 'suspended']);

export const RouteKind = oneOf(['chat', 'responses', 'embeddings', 'multi']);
export type RouteKind = Static<typeof RouteKind>;

export const Operation = oneOf(['chat', 'responses', 'embeddings']);
export type Operation = Static<typeof Operation>;

export const RequestState = oneOf(['completed', 'failed', 'cancelled']);
