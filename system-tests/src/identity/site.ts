import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type PrivateNats,
  type PrivateRedis,
  startNats,
  startRedis,
  startTcpProxy,
  type TcpProxy,
} from '@relay/testbed';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import { until } from '../harness/until.ts';

const SETTLED_MS_MAX = 60_000;
const AT_ONCE = 4;

/** Where a deployment keeps what two of them could share by mistake. */
export interface SharedStores {
  readonly redis: PrivateRedis;
  readonly proxy: TcpProxy;
  readonly nats: PrivateNats;
  readonly spool: string;
  readonly files: string;
  readonly env: Readonly<Record<StoreSetting, string>>;
  remove(): Promise<void>;
}

export type StoreSetting = 'REDIS_URL' | 'RELAY_NATS_URL' | 'RELAY_SPOOL_DIR' | 'RELAY_USAGE_FILES_DIR';

export async function startStores(): Promise<SharedStores> {
  const [redis, nats] = await Promise.all([startRedis({ appendonly: true }), startNats()]);
  const proxy = await startTcpProxy({ target: redis.url });
  const directory = mkdtempSync(join(tmpdir(), 'relay-test-'));
  const [spool, files] = [join(directory, 'spool'), join(directory, 'files')];
  return {
    redis,
    proxy,
    nats,
    spool,
    files,
    env: {
      REDIS_URL: proxy.url,
      RELAY_NATS_URL: nats.url,
      RELAY_SPOOL_DIR: spool,
      RELAY_USAGE_FILES_DIR: files,
    },
    async remove() {
      await proxy.close();
      await Promise.all([redis.remove(), nats.remove()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A deployment with a database of its own, on these stores. */
export interface Tenant {
  readonly deployment: Deployment;
  readonly env: Readonly<Record<string, string>>;
  readonly ledger: LedgerView;
  /** As its own table says it. */
  id(): Promise<string>;
  /** Asks all the time until the returned function is called, which gives the number of each status. */
  load(): () => Promise<ReadonlyMap<number, number>>;
  /** Resolves when the ledger has what the provider has served, with how far the two are apart. */
  judge(): Promise<{ readonly served: number; readonly lost: number; readonly doubled: number }>;
  stop(): Promise<void>;
}

export async function startTenant(stores: SharedStores): Promise<Tenant> {
  const env = { ...stores.env, RELAY_NATS_STREAM: 'USAGE', RELAY_USAGE_FILES_SECONDS: '1' };
  const deployment = await startDeployment({ processes: 0, env });
  const ledger = openLedgerView(deployment.postgres.url);
  // Test databases are copies of one, and a copy has the id of its original.
  await ledger.query('update deployment set id = gen_random_uuid()');

  async function countOf(what: string): Promise<number> {
    return (
      (await ledger.query<{ count: number }>(`select count(${what}) as count from requests`))[0]?.count ?? 0
    );
  }

  return {
    deployment,
    env: deployment.env,
    ledger,
    async id() {
      const [row] = await ledger.query<{ id: string }>('select id from deployment');
      return row?.id ?? assert.fail('the database has no id');
    },
    load() {
      const url = deployment.processes.at(-1)?.url;
      const statuses = new Map<number, number>();
      let isOver = false;
      async function askOn(): Promise<void> {
        while (!isOver) {
          const response = await fetch(`${url}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'Say hello.' }] }),
          });
          await response.text();
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        }
      }
      const asking = Promise.all(Array.from({ length: AT_ONCE }, askOn));
      return async () => {
        isOver = true;
        await asking;
        return statuses;
      };
    },
    async judge() {
      const served = deployment.provider.log.length;
      await until(async () => (await countOf('*')) === served, SETTLED_MS_MAX);
      const [rows, requests] = [await countOf('*'), await countOf('distinct request_id')];
      return { served, lost: served - requests, doubled: rows - requests };
    },
    async stop() {
      await ledger.close();
      await deployment.stop();
    },
  };
}

/** Starts its process, and gives it something to serve. */
export async function serve({ deployment }: Tenant): Promise<void> {
  const process = await deployment.startProcess();
  await createLane(adminClient(process.url, deployment.adminToken), {
    name: 'fast',
    endpoints: [{ baseUrl: `${deployment.provider.url}/v1`, upstreamModel: 'sim-multi' }],
  });
}
