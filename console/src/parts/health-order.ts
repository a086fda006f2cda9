import type { Health } from '@relay/contract';

/** Whether something is wrong. An endpoint that nothing was sent to is unknown, which is not wrong. */
export function isUnwell(health: Health): boolean {
  return health !== 'healthy' && health !== 'unknown';
}

/** Worst first. */
export const healthOrder: readonly Health[] = ['down', 'degraded', 'rate_limited', 'unknown', 'healthy'];
