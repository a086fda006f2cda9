import type { RequestLogEntry } from '@relay/provider-sim';
import type { AdminClient } from '../harness/admin-client.ts';
import type { Row } from '../harness/ledger-view.ts';
import { tagOf } from './provider-log.ts';
import type { LimitedLane } from './world.ts';

const GATEWAY_LOST = 'gateway_lost';

export interface Comparison {
  /** Requests that the provider saw. */
  readonly dispatched: number;
  /** Requests of which the provider saw only a part, without the tag. */
  readonly incomplete: number;
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  /** Rows with usage that the provider does not know. */
  readonly invented: readonly string[];
  /** Sum of the absolute differences between reported rows and the provider's count, in tokens. */
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

/** Compares the ledger with the provider's log. */
export function compare(entries: readonly RequestLogEntry[], rows: readonly Row[]): Comparison {
  const seen = Map.groupBy(
    entries.filter((entry) => tagOf(entry) !== ''),
    tagOf,
  );
  const written = Map.groupBy(rows, ({ tag }) => tag);
  const reported = rows.filter(({ usageSource }) => usageSource === 'reported');
  const estimated = rows.filter(({ usageSource }) => usageSource === 'estimated');
  const counted = ({ tag }: Row) => tokensOf(seen.get(tag) ?? []);
  return {
    dispatched: seen.size,
    incomplete: entries.filter((entry) => tagOf(entry) === '').length,
    lost: [...seen.keys()].filter((tag) => !written.has(tag)),
    duplicated: [...written].filter(([, list]) => list.length > 1).map(([tag]) => tag),
    invented: reported.filter(({ tag }) => !seen.has(tag)).map(({ tag }) => tag),
    sumDifference: sum(reported, (row) => Math.abs(tokensOfRow(row) - counted(row))),
    costDifference: sum([...reported, ...estimated], (row) => Math.abs(row.costMicros - priceOf(row))),
    reportedRows: reported.length,
    estimatedRows: estimated.length,
    gatewayLostRows: estimated.filter(({ cause }) => cause === GATEWAY_LOST).length,
    unsentRows: estimated.filter(({ tag }) => !seen.has(tag)).length,
    estimatedTokens: { posted: sum(estimated, tokensOfRow), counted: sum(estimated, counted) },
  };
}

function tokensOf(entries: readonly RequestLogEntry[]): number {
  return sum(entries, ({ promptTokens, completionTokens }) => promptTokens + completionTokens);
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

export async function readWindows(admin: AdminClient): Promise<readonly WindowUsage[]> {
  const { status, body } = await admin.call('GET', '/api/relay/limits/usage');
  if (status !== 200) throw new Error(`usage cannot be read: ${status} ${JSON.stringify(body)}`);
  return body as WindowUsage[];
}

/** Windows that differ from the rows of their lane, or that still hold a reservation. */
export function windowDifferences(
  usage: readonly WindowUsage[],
  lanes: readonly LimitedLane[],
  rows: readonly Row[],
): string[] {
  return lanes.flatMap(({ laneId, policies }) => {
    const counted = rows.filter((row) => row.laneId === laneId && row.usageSource !== 'none');
    const expected = {
      requests: counted.length,
      tokens: sum(counted, tokensOfRow),
      spend: sum(counted, ({ costMicros }) => costMicros),
    };
    return (Object.keys(expected) as (keyof typeof expected)[]).flatMap((metric) => {
      const found = usage.find(({ policy_id }) => policy_id === policies[metric]);
      if (found?.used === expected[metric] && found.reserved === 0) return [];
      const window = `${found?.used} used and ${found?.reserved} reserved`;
      return [`${metric} of lane ${laneId}: ${window}, and the ledger holds ${expected[metric]}`];
    });
  });
}
