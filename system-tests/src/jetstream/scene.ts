import assert from 'node:assert/strict';
import { type PrivateNats, startNats } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { startDeployment } from '../harness/deployment.ts';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { until } from '../harness/until.ts';
import { type StreamReader, streamReader } from './stream-reader.ts';

const STREAM = 'USAGE';
const ROUND_REQUESTS = IS_LONG ? 400 : 120;
const AT_ONCE = 20;
/** A killed worker keeps the lease for 15 s, and what it has not acknowledged of the usage stream for 40 s. */
const WRITTEN_MS_MAX = 120_000;

/** A gateway, a worker that publishes to a broker, and the means to kill both. */
export interface Scene {
  readonly nats: PrivateNats;
  readonly stream: StreamReader;
  readonly ledger: LedgerView;
  readonly databaseUrl: string;
  readonly counts: { requests: number; failed: number };
  /** A round of requests; resolves when the ledger has their rows. */
  ask(): Promise<void>;
  killWorker(): Promise<void>;
  startWorker(): Promise<void>;
  /** With a worker: resolves when no row waits for the stream. */
  untilWritten(): Promise<void>;
  workerLogs(): readonly Record<string, unknown>[];
  stop(): Promise<void>;
}

export async function startScene(): Promise<Scene> {
  const nats = await startNats();
  const stream = streamReader(nats, STREAM);
  await stream.create();
  const deployment = await startDeployment({
    processes: 0,
    env: { RELAY_NATS_URL: nats.url, RELAY_NATS_STREAM: STREAM },
  });
  const [platform, gateway] = await Promise.all(
    ['platform', 'inference'].map((role) => deployment.startProcess({ role })),
  );
  assert.ok(platform !== undefined && gateway !== undefined);
  await createLane(adminClient(platform.url, deployment.adminToken), {
    name: 'fast',
    endpoints: [{ baseUrl: `${deployment.provider.url}/v1`, upstreamModel: 'sim-multi' }],
  });
  const databaseUrl = deployment.postgres.url;
  const ledger = openLedgerView(databaseUrl);
  const counts = { requests: 0, failed: 0 };
  const started: RelayProcess[] = [];
  let worker: RelayProcess | null = null;

  const countOf = async (from: string) =>
    (await ledger.query<{ count: number }>(`select count(*) as count from ${from}`))[0]?.count;

  async function askOnce(): Promise<void> {
    const response = await fetch(`${gateway?.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'Say hello.' }] }),
    });
    await response.text();
    counts.requests += 1;
    if (response.status !== 200) counts.failed += 1;
  }

  return {
    nats,
    stream,
    ledger,
    databaseUrl,
    counts,
    async ask() {
      for (let sent = 0; sent < ROUND_REQUESTS; sent += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, askOnce));
      const isIn = await until(async () => (await countOf('requests')) === counts.requests, WRITTEN_MS_MAX);
      assert.ok(isIn, 'the ledger has not got all rows');
    },
    async killWorker() {
      await worker?.kill();
      worker = null;
      // The long form waits for the lease of the dead worker. Exactness does not depend on it.
      if (!IS_LONG) await ledger.query('delete from sink_leases');
    },
    async startWorker() {
      worker ??= await deployment.startProcess({ role: 'worker' });
      started.push(worker);
    },
    async untilWritten() {
      const isWritten = await until(async () => (await countOf('sink_outbox')) === 0, WRITTEN_MS_MAX);
      assert.ok(isWritten, 'rows wait for the stream');
    },
    workerLogs: () => started.flatMap(({ logs }) => logs),
    async stop() {
      await ledger.close();
      await deployment.stop();
      await nats.remove();
    },
  };
}
