import pg from 'pg';
import { until } from '../harness/until.ts';
import type { Sent } from './steady-requests.ts';

const LEDGER_MS_MAX = 20_000;
/** Attempts this far apart are single ones: the first probe follows after a second. */
const SINGLE_MS = 800;

/** An attempt at the endpoint that dies. */
export interface Attempt {
  readonly atMs: number;
  readonly gateway: number;
  readonly outcome: string;
}

interface Row {
  readonly request_id: string;
  readonly attempts: readonly { endpoint_id: string; started_ms: number; outcome: string }[];
}

/** All attempts at an endpoint by these requests, oldest first, once all of them are in the ledger. */
export async function attemptsAt(
  databaseUrl: string,
  endpointId: string,
  sent: readonly Sent[],
): Promise<Attempt[]> {
  const gateways = new Map(sent.map(({ requestId, gateway }) => [requestId, gateway]));
  gateways.delete('');
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  let rows: Row[] = [];
  const complete = await until(
    async () => {
      const ids = [...gateways.keys()];
      const text = 'select request_id, attempts from requests where request_id = any($1)';
      ({ rows } = await pool.query<Row>(text, [ids]));
      return rows.length === ids.length;
    },
    LEDGER_MS_MAX,
    200,
  );
  await pool.end();
  if (!complete) throw new Error(`${rows.length} of ${gateways.size} requests are in the ledger`);
  const attempts = rows.flatMap(({ request_id, attempts: own }) =>
    own
      .filter(({ endpoint_id }) => endpoint_id === endpointId)
      .map(({ started_ms, outcome }) => ({
        atMs: arrivedMs(request_id) + started_ms,
        gateway: gateways.get(request_id) ?? -1,
        outcome,
      })),
  );
  return attempts.sort((a, b) => a.atMs - b.atMs);
}

/** The first 48 bits of the id. */
function arrivedMs(requestId: string): number {
  return Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
}

/**
 * Milliseconds from the death until each gateway had left the endpoint out: its last attempt before those that were single
 * ones for the whole deployment. And how many single ones there were.
 */
export function takenOut(
  attempts: readonly Attempt[],
  { diedMs, endMs, gateways }: { diedMs: number; endMs: number; gateways: number },
): { readonly ms: readonly number[]; readonly probes: number } {
  const dead = attempts.filter(({ atMs }) => atMs >= diedMs && atMs <= endMs);
  let probes = 0;
  for (let index = dead.length - 1; index > 0; index -= 1, probes += 1) {
    if ((dead[index]?.atMs ?? 0) - (dead[index - 1]?.atMs ?? 0) < SINGLE_MS) break;
  }
  const crowd = dead.slice(0, dead.length - probes);
  const ms = Array.from({ length: gateways }, (_, gateway) => {
    const last = crowd.findLast((each) => each.gateway === gateway);
    return last === undefined ? 0 : last.atMs - diedMs;
  });
  return { ms, probes };
}

/** Milliseconds from the recovery until each gateway was served by the endpoint again. */
export function backAfter(
  attempts: readonly Attempt[],
  { revivedMs, gateways }: { revivedMs: number; gateways: number },
): number[] {
  return Array.from({ length: gateways }, (_, gateway) => {
    const found = attempts.find(
      (each) => each.gateway === gateway && each.atMs >= revivedMs && each.outcome === 'completed',
    );
    return found === undefined ? Number.POSITIVE_INFINITY : found.atMs - revivedMs;
  });
}
