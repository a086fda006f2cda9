import { windowStartMs } from '../../admission/calendar-window.ts';
import { createIdleShards, isIdleShard } from '../../metering/compare-windows.ts';
import { startLedgerWorker } from '../../metering/ledger-worker.ts';
import { startReconciliation } from '../../metering/reconcile.ts';
import { testSealer } from '../../metering/test-sealer.fixture.ts';
import type { Redis } from '../../store/redis/redis.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import type { Deployment } from './deployment.fixture.ts';
import { epochParts, prefixesOf } from './epoch-parts.fixture.ts';
import { createDatabase } from './ledger-statements.fixture.ts';
import { COMMAND_TIMEOUT_MS, createLink, STATEMENT_TIMEOUT_MS } from './network.fixture.ts';
import type { SimWorker } from './processes.fixture.ts';
import { createStoreClient } from './remote-engine.fixture.ts';

const SWEEP_MS = 1_000;
const PATROL_MS = 10_000;
/** More often than in production, so that runs stay short. */
export const RECONCILE_MS = 20_000;

export function startWorker(deployment: Deployment, name: string): SimWorker {
  const { time, random, store, ledger, log } = deployment;
  const process = time.startProcess(name, deployment.skewMs());
  return time.actAs(process, () => {
    const common = { time, random, process };
    const links = {
      store: createLink({ ...common, server: store.server, timeoutMs: COMMAND_TIMEOUT_MS, inOrder: true }),
      ledger: createLink({
        ...common,
        server: ledger.server,
        timeoutMs: STATEMENT_TIMEOUT_MS,
        inOrder: false,
      }),
    };
    const client = createStoreClient({
      store,
      link: links.store,
      line: { released: nothing, next: nothing, missed: nothing },
      owners: deployment.owners,
      epochs: epochParts(deployment, links.ledger, async () => undefined),
      prefixes: prefixesOf(deployment),
      onAsk: nothing,
      onAnswer: nothing,
    });
    const redis = client.redis as Redis;
    const db = createDatabase(links.ledger, { ledger, organizations: deployment.snapshots });
    startLedgerWorker({
      redis,
      consumer: name,
      ledger: {
        async write(rows) {
          const written = await links.ledger.call(`write ${rows.length}`, () => ledger.write(rows));
          return { rows: written, refused: new Map() };
        },
      },
      db,
      clock: process.clock,
      log,
      sealer: testSealer,
    });
    startReconciliation({
      db,
      isIdle: createIdleShards(redis),
      usage: client.engine.usage,
      recount: client.engine.recount,
      windowStartMs,
      clock: process.clock,
      log,
      everyMs: RECONCILE_MS,
    });
    setInterval(() => void client.engine.sweep().catch(nothing), SWEEP_MS);
    setInterval(() => void patrol(deployment, redis), PATROL_MS);
    return { process, links, client };
  });
}

/** As `shard-patrol.ts` does it, without the shards that no organization of the world has. */
async function patrol({ world }: Deployment, redis: Redis): Promise<void> {
  for (const organizationId of world.organizations.keys()) {
    const prefix = prefixOf(organizationId);
    const isIdle = await isIdleShard(redis, prefix).catch(() => true);
    if (!isIdle) redis.shards.use(prefix);
  }
}

function nothing(): undefined {
  return undefined;
}
