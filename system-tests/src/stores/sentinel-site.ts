import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type PrivateRedis, redisCall, startRedis } from '@relay/testbed';
import { until } from '../harness/until.ts';
import { type Program, startProgram } from './start-program.ts';

const HAPROXY_FILE = join(import.meta.dirname, '../../../deploy/redis/haproxy.cfg');
const SENTINELS = 3;
const READY_MS_MAX = 60_000;

/** Three Redis servers, three Sentinels that watch them, and the shipped HAProxy in front. */
export interface SentinelSite {
  /** HAProxy. */
  readonly url: string;
  /** One of the Sentinels. */
  readonly sentinelUrl: string;
  /** Kills the master and resolves when Sentinel has promoted another server. Returns the killed one. */
  failOver(): Promise<PrivateRedis>;
  /** Resolves when Sentinel has made this server a replica. */
  untilDemoted(server: PrivateRedis): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startSentinelSite(): Promise<SentinelSite> {
  const servers = await Promise.all(Array.from({ length: 3 }, () => startRedis({ appendonly: true })));
  const [first] = servers;
  if (first === undefined) throw new Error('no Redis');
  for (const server of servers)
    await redisCall(server.port, 'CONFIG', 'SET', 'repl-diskless-sync-delay', '0');
  for (const server of servers.slice(1))
    await redisCall(server.port, 'REPLICAOF', '127.0.0.1', String(first.port));
  await demand('the replicas follow', async () =>
    String(await redisCall(first.port, 'INFO', 'replication')).includes('connected_slaves:2'),
  );
  for (const server of servers) await redisCall(server.port, 'CONFIG', 'SET', 'min-replicas-to-write', '1');
  const directory = mkdtempSync(join(tmpdir(), 'relay-sentinel-'));
  const sentinels = await startSentinels(directory, first.port);
  const masterPort = async () => {
    const reply = await redisCall(sentinels[0]?.port ?? 0, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'relay');
    return Number((reply as readonly string[])[1]);
  };
  const port = await freePort();
  const addresses = servers.map((each, index) => [`REDIS_${index + 1}`, `127.0.0.1:${each.port}`]);
  const haproxy = startProgram('haproxy', ['-db', '-f', HAPROXY_FILE], {
    REDIS_PORT: String(port),
    ...Object.fromEntries(addresses),
  });
  await demand('HAProxy has the master', async () => (await redisCall(port, 'PING')) === 'PONG', haproxy);

  return {
    url: `redis://127.0.0.1:${port}`,
    sentinelUrl: `redis://127.0.0.1:${sentinels[0]?.port}`,
    async failOver() {
      const old = await masterPort();
      const killed = servers.find((each) => each.port === old);
      if (killed === undefined) throw new Error(`no server at ${old}`);
      await killed.kill();
      await demand('Sentinel promotes a replica', async () => (await masterPort()) !== old);
      return killed;
    },
    untilDemoted: (server) =>
      until(
        async () => String(await redisCall(server.port, 'INFO', 'replication')).includes('role:slave'),
        READY_MS_MAX,
      ),
    async stop() {
      await Promise.all([haproxy, ...sentinels.map(({ program }) => program)].map((each) => each.stop()));
      await Promise.all(servers.map((each) => each.remove()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startSentinels(directory: string, masterPort: number) {
  const sentinels: { port: number; program: Program }[] = [];
  for (let index = 0; index < SENTINELS; index += 1) {
    const port = await freePort();
    const file = join(directory, `sentinel-${index}.conf`);
    writeFileSync(
      file,
      `port ${port}
bind 127.0.0.1
dir ${directory}
sentinel monitor relay 127.0.0.1 ${masterPort} 2
sentinel down-after-milliseconds relay 1000
sentinel failover-timeout relay 6000
`,
    );
    sentinels.push({ port, program: startProgram('redis-server', [file, '--sentinel'], {}) });
  }
  for (const { port, program } of sentinels)
    await demand(
      'the Sentinels know each other and both replicas',
      async () => {
        const quorum = String(await redisCall(port, 'SENTINEL', 'CKQUORUM', 'relay'));
        const replicas = await redisCall(port, 'SENTINEL', 'REPLICAS', 'relay');
        return quorum.startsWith('OK 3') && Array.isArray(replicas) && replicas.length === 2;
      },
      program,
    );
  return sentinels;
}

async function demand(what: string, holds: () => Promise<boolean>, program?: Program): Promise<void> {
  if (!(await until(holds, READY_MS_MAX, 100)))
    throw new Error(`not in time: ${what}\n${program?.output() ?? ''}`);
}
