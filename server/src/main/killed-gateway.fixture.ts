// Runs admission and metering as a gateway does, request after request, until it is killed:
// `node killed-gateway.fixture.ts '{"redisUrl": …, "databaseUrl": …, "directory": …, "seed": 1, "drain": false}'`.
// It prints each request that it asks admission for (`q id`) and dispatches (`d id`).

import { writeSync } from 'node:fs';
import { createRandom, type Random } from '@relay/testbed/random';
import { SOMEBODY } from '../admission/ask.fixture.ts';
import { RelayError } from '../domain/relay-error.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { sampleDraft, sampleRecord } from '../metering/request-records.fixture.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import { createRedis } from '../store/redis/redis.ts';
import { createAdmission, type RunningAdmission } from './start-admission.ts';

export interface GatewayOrders {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly directory: string;
  readonly seed: number;
  /** Serve nothing: deliver what other processes left on disk, then exit. */
  readonly drain: boolean;
}

const REQUESTS_AT_ONCE = 8;
const UNUSED = { dispatched: false, tokens: 0, spendMicros: 0 };
const USED = { dispatched: true, tokens: 5, spendMicros: 5 };

async function main(orders: GatewayOrders): Promise<void> {
  const log = createLog('silent');
  const redis = createRedis({ url: orders.redisUrl, clock: systemClock, log });
  await redis.whenReady(60_000).catch(() => undefined);
  const database = createDatabase({ url: orders.databaseUrl, log });
  const admission = createAdmission({
    redis,
    db: database.db,
    clock: systemClock,
    log,
    spool: { directory: orders.directory, bytesMax: 64 * 1024 * 1024 },
    gatewayId: `gateway-${orders.seed}`,
  });
  await admission.start();
  if (orders.drain) {
    const { kept, lost } = await admission.stop(20_000);
    await redis.close();
    await database.close();
    process.exitCode = kept + lost === 0 ? 0 : 1;
    return;
  }
  const random = createRandom(orders.seed);
  const serving = Array.from({ length: REQUESTS_AT_ONCE }, async () => {
    for (;;) await serveOne(admission, random);
  });
  await Promise.all(serving);
}

async function serveOne({ desk }: RunningAdmission, random: Random): Promise<void> {
  const draft = sampleDraft();
  const { requestId, organizationId } = draft;
  const record = sampleRecord({ requestId, organizationId });
  say('q', requestId);
  const attempts = random.integer(1, 5) === 1 ? 2 : 1;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      await desk.admit({
        organizationId,
        operationId: requestId,
        queue: 'lane:key',
        waitersMax: 100,
        ...SOMEBODY,
        candidates: draft.candidates.map(({ endpointId }) => ({ endpointId, paced: true, charges: [] })),
        selection: 'preferred',
        waitMsMax: 1_000,
        draft: JSON.stringify(draft),
        ...(attempt === 0 ? {} : { release: USED }),
      });
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      const refused = { ...record, state: 'failed', status: error.status, cause: error.code } as const;
      desk.settle(organizationId, requestId, attempt === 0 ? UNUSED : USED, JSON.stringify(refused));
      return;
    }
    if (attempt === 0) say('d', requestId);
    await new Promise((resolve) => setTimeout(resolve, random.integer(0, 40)));
  }
  desk.settle(organizationId, requestId, USED, JSON.stringify(record));
}

/** Writes synchronously, so that a line is out even if the process is killed right after. */
function say(what: string, requestId: string): void {
  writeSync(1, `${what} ${requestId}\n`);
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '') as GatewayOrders);
