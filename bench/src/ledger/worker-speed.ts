import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { copyIn } from './copy-in.ts';
import type { Deployment } from './deployment.ts';
import { COPY_STATEMENT, chunksOf, DAY_MS, makePartition, partitionOf, requestsOfDay } from './load-rows.ts';
import type { Organization, SampleRequest } from './population.ts';
import { recordText } from './request-forms.ts';

const SHARDS = 16;
const ENTRIES_PER_SEND = 500;
const DRAIN_MS_MAX = 600_000;

export interface Speeds {
  readonly copyRowsPerSecond: number;
  readonly workerRowsPerSecond: number;
}

/**
 * The same rows, once by COPY and once from the streams by the worker with everything it does: each into a day of the ledger
 * that has its indexes and nothing else. The rows are as dense in time as in a busy hour.
 */
export async function measureSpeeds(
  deployment: Deployment,
  organizations: readonly Organization[],
  dayStartMs: number,
  settings: { readonly rows: number; readonly rounds: number },
): Promise<Speeds[]> {
  const { client } = deployment;
  await makePartition(client, dayStartMs);
  const worker = await deployment.startWorker();
  const redis = createClient({ url: deployment.redisUrl, disableClientInfo: true });
  await redis.connect();
  const send = (command: string[]) => redis.sendCommand(command);
  const speeds: Speeds[] = [];
  try {
    for (let round = 0; round < settings.rounds; round += 1) {
      const requests = [...requestsOfHour(organizations, dayStartMs, settings.rows)];
      const chunks = [...chunksOf(requests)];
      await client.query('checkpoint');
      const copyMs = await timed(() => copyIn(client, COPY_STATEMENT, chunks));
      await empty(deployment, dayStartMs);
      // Pauses the worker until all entries are in the streams, as after an outage.
      process.kill(worker.pid, 'SIGSTOP');
      await fillStreams(send, requests);
      await client.query('checkpoint');
      process.kill(worker.pid, 'SIGCONT');
      const workerMs = await timed(() => untilDrained(send));
      await demandRows(deployment, dayStartMs, requests.length);
      await empty(deployment, dayStartMs);
      speeds.push({
        copyRowsPerSecond: (requests.length * 1_000) / copyMs,
        workerRowsPerSecond: (requests.length * 1_000) / workerMs,
      });
    }
  } finally {
    redis.destroy();
    await worker.stop();
  }
  return speeds;
}

function* requestsOfHour(
  organizations: readonly Organization[],
  dayStartMs: number,
  count: number,
): Generator<SampleRequest> {
  const [hourMs, startMs] = [DAY_MS / 24, dayStartMs + DAY_MS / 2];
  let index = 0;
  for (const request of requestsOfDay(organizations, dayStartMs, count)) {
    const timeMs = Math.floor(startMs + (index * hourMs) / count);
    const time = timeMs.toString(16).padStart(12, '0');
    yield {
      ...request,
      timeMs,
      requestId: `${time.slice(0, 8)}-${time.slice(8)}${request.requestId.slice(13)}`,
    };
    index += 1;
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function prefixOf(shard: number): string {
  return `relay:{s${shard}}:`;
}

function streamOf(shard: number): string {
  return `${prefixOf(shard)}usage`;
}

/** One entry a request, as the script writes it that settles a request. */
async function fillStreams(
  send: (command: string[]) => Promise<unknown>,
  requests: readonly SampleRequest[],
): Promise<void> {
  const shards = new Map<string, number>();
  const nowS = String(Math.floor(Date.now() / 1_000));
  // As a gateway notes the shards that it uses.
  for (let shard = 0; shard < SHARDS; shard += 1) await send(['ZADD', 'relay:shards', nowS, prefixOf(shard)]);
  for (let from = 0; from < requests.length; from += ENTRIES_PER_SEND) {
    await Promise.all(
      requests.slice(from, from + ENTRIES_PER_SEND).map((request) => {
        const { id } = request.organization;
        const shard = shards.get(id) ?? shards.size % SHARDS;
        shards.set(id, shard);
        return send(['XADD', streamOf(shard), '*', 'r', recordText(request)]);
      }),
    );
  }
}

async function untilDrained(send: (command: string[]) => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + DRAIN_MS_MAX;
  for (;;) {
    const lengths = await Promise.all(
      Array.from({ length: SHARDS }, (_, shard) => send(['XLEN', streamOf(shard)])),
    );
    if (lengths.every((length) => Number(length) === 0)) return;
    if (performance.now() > endMs) throw new Error('the worker does not drain the streams');
    await sleep(10);
  }
}

async function demandRows({ client }: Deployment, dayStartMs: number, count: number): Promise<void> {
  const { rows } = await client.query<{ count: number; sums: number }>(`
    select (select count(*)::int from ${partitionOf(dayStartMs)}) as count,
      (select sum(requests_completed + requests_failed + requests_cancelled)::int from request_rollups
        where bucket = 'day' and family = 'caller' and bucket_start = '${new Date(dayStartMs).toISOString()}') as sums`);
  if (rows[0]?.count !== count || rows[0].sums !== count)
    throw new Error(`of ${count} requests, ${rows[0]?.count} have a row and ${rows[0]?.sums} are counted`);
}

async function empty({ client }: Deployment, dayStartMs: number): Promise<void> {
  const [from, to] = [dayStartMs, dayStartMs + DAY_MS].map((timeMs) => new Date(timeMs).toISOString());
  await client.query(`truncate ${partitionOf(dayStartMs)}`);
  await client.query('delete from request_rollups where bucket_start >= $1 and bucket_start < $2', [
    from,
    to,
  ]);
  await client.query('vacuum request_rollups');
}
