import type { RequestLogEntry } from '@relay/provider-sim';
import { type ProviderLog, tagOf } from '../chaos/provider-log.ts';
import type { AdminClient } from '../harness/admin-client.ts';
import { openLedgerView } from '../harness/ledger-view.ts';
import { until } from '../harness/until.ts';

const MINUTE_MS = 60_000;
/** What a provider sees a bucket early or late is allowed for by the engine. */
const SETTLED_MS_MAX = 60_000;

export interface Judged {
  readonly databaseUrl: string;
  readonly provider: Pick<ProviderLog, 'entries'>;
  readonly admin: AdminClient;
  /** The limit of the requests whose tags begin with `day`. */
  readonly dayPolicyId: string;
}

/** By how much the provider saw more in any minute than the limit allows. */
export function exceededMinute(entries: readonly RequestLogEntry[], limit: number): number {
  const times = entries.map(({ receivedAtMs }) => receivedAtMs).sort((a, b) => a - b);
  let most = 0;
  let first = 0;
  for (const [index, atMs] of times.entries()) {
    while (atMs - (times[first] ?? atMs) >= MINUTE_MS) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return Math.max(0, most - limit);
}

/** By how much more requests were with the provider at any moment than the limit allows. */
export function exceededUnits(entries: readonly RequestLogEntry[], limit: number): number {
  const changes = entries.flatMap(({ receivedAtMs, finishedAtMs, abortedAtMs }) => [
    { atMs: receivedAtMs, change: 1 },
    { atMs: finishedAtMs ?? abortedAtMs ?? Number.POSITIVE_INFINITY, change: -1 },
  ]);
  changes.sort((a, b) => a.atMs - b.atMs || a.change - b.change);
  let [now, most] = [0, 0];
  for (const { change } of changes) {
    now += change;
    most = Math.max(most, now);
  }
  return Math.max(0, most - limit);
}

export interface Compared {
  /** Requests that the provider saw and of which the ledger has no attempt, and those that have more than one row. */
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  /** What the limit of the day counts less what the ledger has. */
  readonly difference: number;
}

/** Waits until the ledger has all that the provider saw, and the limits agree with it; at most a minute. */
export async function compare(judged: Judged): Promise<Compared> {
  const ledger = openLedgerView(judged.databaseUrl);
  try {
    const seen = (await judged.provider.entries()).map(tagOf);
    let compared: Compared = { lost: seen, duplicated: [], difference: Number.NaN };
    await until(
      async () => {
        const attempts = await ledger.attempts();
        const sent = new Set(attempts.map(({ tag }) => tag));
        const rows = Map.groupBy(await ledger.rows(), ({ tag }) => tag);
        const ofDay = attempts.filter(({ tag }) => tag.startsWith('day')).length;
        compared = {
          lost: seen.filter((tag) => !sent.has(tag)),
          duplicated: [...rows].filter(([, list]) => list.length > 1).map(([tag]) => tag),
          difference: (await usedToday(judged)) - ofDay,
        };
        return compared.lost.length === 0 && compared.difference === 0;
      },
      SETTLED_MS_MAX,
      250,
    );
    return compared;
  } finally {
    await ledger.close();
  }
}

async function usedToday({ admin, dayPolicyId }: Judged): Promise<number> {
  const { status, body } = await admin.call('GET', '/api/relay/limits/usage');
  if (status !== 200) throw new Error(`the usage of limits was answered with ${status}`);
  const all = body as readonly { policy_id: string; used: number }[];
  return all.find(({ policy_id }) => policy_id === dayPolicyId)?.used ?? Number.NaN;
}
