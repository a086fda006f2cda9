import type { Gateway } from '../gateways/gateway.ts';
import { openCounters } from '../limits/redis-counters.ts';
import { runFirst } from '../pinned-process.ts';

/** All that a request passes through. Workers and PostgreSQL get what is left, so that a request never waits for them. */
export async function runReplaysFirst(gateways: readonly Gateway[], upstream: { readonly pid: number }) {
  const pids = [upstream.pid, ...gateways.map(({ pid }) => pid)];
  for (const url of new Set(gateways.flatMap(({ redisUrl }) => redisUrl ?? []))) {
    const counters = await openCounters(url);
    pids.push((await counters.read()).processId);
    counters.close();
  }
  runFirst(pids);
}
