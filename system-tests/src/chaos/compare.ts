import type { RequestLogEntry } from '@relay/provider-sim';
import type { AdminClient } from '../harness/admin-client.ts';
import type { Row, SentAttempt } from '../harness/ledger-view.ts';
import { until } from '../harness/until.ts';
import { tagOf } from './provider-log.ts';
import type { BILLED_FAILURE, LimitedLane } from './world.ts';

const KNOWN_MS_MAX = 20_000;
const GATEWAY_LOST = 'gateway_lost';

export interface Comparison {
  /** Requests that the provider saw. */
  readonly dispatched: number;
  /** Requests of which the provider saw only a part, without the tag. */
  readonly incomplete: number;
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  /** Requests with reported usage that the provider does not know. */
  readonly invented: readonly string[];
  /** Sum of the absolute differences between what was reported for requests and the provider's count, in tokens. */
  readonly sumDifference: number;
  /** Sum of the absolute differences between costs and tokens at their price, in micro-USD. */
  readonly costDifference: number;
  readonly reportedRows: number;
  readonly estimatedRows: number;
  readonly gatewayLostRows: number;
  /** Recorded at the estimate although nothing was sent. */
  readonly unsentRows: number;
  readonly estimatedTokens: { readonly posted: number; readonly counted: number };
}

/** What the ledger holds. */
export interface Ledger {
  readonly rows: readonly Row[];
  readonly attempts: readonly SentAttempt[];
}

/** Compares the ledger with the provider's log. */
export function compare(entries: readonly RequestLogEntry[], { rows, attempts }: Ledger): Comparison {
  const seen = Map.groupBy(
    entries.filter((entry) => tagOf(entry) !== ''),
    tagOf,
  );
  const written = Map.groupBy(rows, ({ tag }) => tag);
  const reported = attempts.filter(({ source }) => source === 'reported');
  const estimated = rows.filter(({ usageSource }) => usageSource === 'estimated');
  const counted = (tag: string) => sum(seen.get(tag) ?? [], countedOf);
  // What the provider counts of an answer that broke off is not reported; only the last attempt gets so far.
  const told = [...Map.groupBy(attempts, ({ tag }) => tag)].filter(
    ([, list]) => list.at(-1)?.source === 'reported',
  );
  return {
    dispatched: seen.size,
    incomplete: entries.filter((entry) => tagOf(entry) === '').length,
    lost: [...seen.keys()].filter((tag) => !written.has(tag)),
    duplicated: [...written].filter(([, list]) => list.length > 1).map(([tag]) => tag),
    invented: reported.filter(({ tag }) => !seen.has(tag)).map(({ tag }) => tag),
    sumDifference: sum(told, ([tag, list]) => {
      const itsReported = list.filter(({ source }) => source === 'reported');
      return Math.abs(sum(itsReported, ({ tokens }) => tokens) - counted(tag));
    }),
    costDifference: sum(rows, (row) => Math.abs(row.costMicros - priceOf(row))),
    reportedRows: rows.filter(({ usageSource }) => usageSource === 'reported').length,
    estimatedRows: estimated.length,
    gatewayLostRows: estimated.filter(({ cause }) => cause === GATEWAY_LOST).length,
    unsentRows: estimated.filter(({ tag }) => !seen.has(tag)).length,
    estimatedTokens: {
      posted: sum(estimated, tokensOfRow),
      counted: sum(estimated, ({ tag }) => counted(tag)),
    },
  };
}

/** A failure that bills says so in its body, unless the connection is cut before any of it is sent. */
function countedOf({ fault, bytesSent, promptTokens, completionTokens }: RequestLogEntry): number {
  const { usage } = (bytesSent > 0 ? (fault?.body ?? {}) : {}) as Partial<typeof BILLED_FAILURE>;
  return usage?.total_tokens ?? promptTokens + completionTokens;
}

function tokensOfRow({ inputTokens, outputTokens }: Row): number {
  return inputTokens + outputTokens;
}

/** An input token costs 1 micro-USD, an output token 4. */
function priceOf({ inputTokens, outputTokens }: Row): number {
  return inputTokens + 4 * outputTokens;
}

function sum<T>(list: readonly T[], amount: (item: T) => number): number {
  return list.reduce((total, item) => total + amount(item), 0);
}

export interface WindowUsage {
  readonly policy_id: string;
  readonly used: number;
  readonly reserved: number;
}

/** Limits are unknown for a while after Redis has lost them. */
export async function readWindows(admin: AdminClient): Promise<readonly WindowUsage[]> {
  const read = () => admin.call('GET', '/api/relay/limits/usage');
  let { status, body } = await read();
  await until(
    async () => {
      if (status === 503) ({ status, body } = await read());
      return status !== 503;
    },
    KNOWN_MS_MAX,
    250,
  );
  if (status !== 200) throw new Error(`usage cannot be read: ${status} ${JSON.stringify(body)}`);
  return body as WindowUsage[];
}

/** Windows that differ from the attempts of their lane, or that still hold a reservation. */
export function windowDifferences(
  usage: readonly WindowUsage[],
  lanes: readonly LimitedLane[],
  attempts: readonly SentAttempt[],
): string[] {
  return lanes.flatMap(({ laneId, policies }) => {
    const sent = attempts.filter((attempt) => attempt.laneId === laneId);
    const expected = {
      requests: sent.length,
      tokens: sum(sent, ({ tokens }) => tokens),
      spend: sum(sent, ({ costMicros }) => costMicros),
    };
    return (Object.keys(expected) as (keyof typeof expected)[]).flatMap((metric) => {
      const found = usage.find(({ policy_id }) => policy_id === policies[metric]);
      if (found?.used === expected[metric] && found.reserved === 0) return [];
      const window = `${found?.used} used and ${found?.reserved} reserved`;
      return [`${metric} of lane ${laneId}: ${window}, and the ledger holds ${expected[metric]}`];
    });
  });
}
