import type { Static } from 'typebox';
import { oneOf } from '../schema.ts';

/** Enumerations that several resources share. */
export const Health = oneOf(['healthy', 'rate_limited', 'cooling_down', 'unhealthy']);

export const Metric = oneOf(['requests', 'tokens', 'spend', 'concurrency'], {
  description: 'What is counted; `spend` is in micro-USD. `concurrency` goes with period `none`.',
});

export const Period = oneOf(['second', 'minute', 'hour', 'day', 'month', 'none'], {
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
