import { tagOf } from '../chaos/provider-log.ts';
import { openLedgerView } from '../harness/ledger-view.ts';
import { type Backlog, backlogs } from '../harness/live-state.ts';
import { until } from '../harness/until.ts';
import type { Site } from './site.ts';

export interface Settled {
  /** Requests that the provider saw and that have no row, or more than one. */
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  /** Tokens by which rows with reported usage differ from what the provider counted. */
  readonly sumDifference: number;
  /** What the streams still hold. */
  readonly left: readonly Backlog[];
  readonly tookMs: number;
}

const DRAIN_MS_MAX = 60_000;

/** Waits until the streams are empty and every request the provider saw has its row, or nothing more comes. */
export async function settledRequests(site: Site, prefix: string): Promise<Settled> {
  const startMs = performance.now();
  const ledger = openLedgerView(site.deployment.postgres.url);
  try {
    const entries = (await site.provider.entries()).filter((entry) => tagOf(entry).startsWith(prefix));
    const counted = new Map(
      entries.map((entry) => [tagOf(entry), entry.promptTokens + entry.completionTokens]),
    );
    const read = async () => (await ledger.rows()).filter(({ tag }) => tag.startsWith(prefix));
    let rows = await read();
    let left = await backlogs(site.redis.port);
    const missing = () => {
      const written = new Set(rows.map(({ tag }) => tag));
      return [...counted.keys()].filter((tag) => !written.has(tag));
    };
    await until(
      async () => {
        rows = await read();
        left = await backlogs(site.redis.port);
        return missing().length === 0 && left.length === 0;
      },
      DRAIN_MS_MAX,
      200,
    );
    const repeated = [...Map.groupBy(rows, ({ tag }) => tag)].filter(([, list]) => list.length > 1);
    const reported = rows.filter(({ usageSource }) => usageSource === 'reported');
    return {
      lost: missing(),
      duplicated: repeated.map(([tag]) => tag),
      sumDifference: reported.reduce(
        (sum, row) => sum + Math.abs(row.inputTokens + row.outputTokens - (counted.get(row.tag) ?? 0)),
        0,
      ),
      left,
      tookMs: Math.round(performance.now() - startMs),
    };
  } finally {
    await ledger.close();
  }
}

/** How many entries wait in Redis for the ledger. */
export async function waitingEntries(site: Site): Promise<number> {
  return (await backlogs(site.redis.port)).reduce((sum, { entries }) => sum + entries, 0);
}
