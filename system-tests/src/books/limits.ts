import { type LimitMetric, limitMetrics } from '@relay/contract';
import type { AdminClient } from '../harness/admin-client.ts';
import { afterMs } from '../harness/until.ts';

/** Of limits that count over a time. */
export const countedMetrics = limitMetrics.filter((metric) => metric !== 'concurrency');

const BUSY_MS_MAX = 20_000;
const RETRY_MS = 200;

export interface LimitState {
  readonly policyId: string;
  readonly kind: 'resource' | 'user' | 'api_key' | 'team';
  readonly scopeType: string;
  readonly scopeId: string | null;
  readonly metric: LimitMetric;
  readonly used: number;
  readonly reserved: number;
}

export type Limits = ReadonlyMap<string, LimitState>;

/** Reads the live state of all limits. Readers who ask while a read runs share the next one. */
export function limitsReader(
  url: string,
  adminToken: string,
): { read(): Promise<Limits>; readonly reads: number } {
  let running: Promise<Limits> | null = null;
  let next: Promise<Limits> | null = null;
  let reads = 0;
  const start = (): Promise<Limits> => {
    reads += 1;
    const reading = readLimits(url, adminToken).finally(() => {
      running = null;
    });
    running = reading;
    return reading;
  };
  return {
    get reads() {
      return reads;
    },
    read() {
      if (running === null) return start();
      next ??= running
        .catch(() => undefined)
        .then(() => {
          next = null;
          return start();
        });
      return next;
    },
  };
}

interface Listed {
  readonly policy_id: string;
  readonly policy_kind: LimitState['kind'];
  readonly scope_type: string;
  readonly scope_id: string | null;
  readonly metric: LimitState['metric'];
  readonly used: number;
  readonly reserved: number;
}

/** Not by the checked client: a check of a thousand limits for each situation costs more than the situation. */
async function readLimits(url: string, adminToken: string): Promise<Limits> {
  const found = new Map<string, LimitState>();
  const endMs = performance.now() + BUSY_MS_MAX;
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/api/relay/limits/usage?limit=1000${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${adminToken}` } });
    if (response.status === 503 && performance.now() < endMs) {
      // Redis has its deadline, also on a busy machine.
      await response.arrayBuffer();
      await afterMs(RETRY_MS);
      continue;
    }
    if (response.status !== 200) throw new Error(`limits/usage: ${response.status} ${await response.text()}`);
    for (const each of (await response.json()) as Listed[])
      found.set(each.policy_id, {
        policyId: each.policy_id,
        kind: each.policy_kind,
        scopeType: each.scope_type,
        scopeId: each.scope_id,
        metric: each.metric,
        used: each.used,
        reserved: each.reserved,
      });
    cursor = response.headers.get('x-next-cursor');
  }
  return found;
}

/** Which key and which member each limit of a key or a member is of. */
export async function subjectsOf({ call }: AdminClient): Promise<ReadonlyMap<string, string>> {
  const subjects = new Map<string, string>();
  for (const [path, subject] of [
    ['api-key-limit-policies', 'api_key_uuid'],
    ['pro/user-limit-policies', 'user_uuid'],
  ] as const) {
    const { body } = await call('GET', `/api/relay/${path}`);
    const { policies } = body as { policies: Record<string, string>[] };
    for (const policy of policies)
      for (const id of [policy['id'], policy['limit_uuid']])
        if (id !== undefined) subjects.set(id, policy[subject] ?? '');
  }
  return subjects;
}
