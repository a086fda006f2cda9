import type { Kysely } from 'kysely';
import { windowStartMs } from '../admission/calendar-window.ts';
import { type AdmissionDesk, createDesk } from '../admission/desk.ts';
import type { AdmissionEngine, Opening } from '../admission/engine.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { isSliding, type Policy } from '../admission/policy.ts';
import { createRedisEngine } from '../admission/redis/engine.ts';
import { createScripts } from '../admission/redis/scripts.ts';
import { createSharedCooldowns } from '../admission/shared-cooldowns.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Redis } from '../store/redis.ts';
import type { Database } from '../store/schema.ts';
import { prefixOfShard, SHARDS } from '../store/shards.ts';
import type { Snapshots } from '../store/snapshots.ts';
import { sumUsageSince } from '../store/usage-sums.ts';

const SWEEP_MS = 1_000;

export interface AdmissionParts {
  readonly redis: Redis;
  readonly db: Kysely<Database>;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly log: Log;
  readonly append: (organizationId: string, record: string) => void;
  /** Unique per process: wake-ups for its waiters are sent to this name. */
  readonly gatewayId: string;
}

export interface RunningAdmission {
  readonly desk: AdmissionDesk;
  readonly engine: AdmissionEngine;
  /** Ends leases of gateways that died. */
  startSweeping(): void;
  start(): Promise<void>;
  stop(timeoutMs: number): Promise<number>;
}

/** The limits engine on Redis with everything around it that lives as long as the process. */
export function createAdmission(parts: AdmissionParts): RunningAdmission {
  const { redis, clock, log } = parts;
  const scripts = createScripts(redis);
  const engine = createRedisEngine({ scripts, gatewayId: parts.gatewayId });
  const cooldowns = createSharedCooldowns({ redis, clock, log });
  const desk = createDesk({
    engine,
    local: createLocalCooldowns({ clock, channel: cooldowns }),
    append: parts.append,
    openings: (organizationId, policies) => openingsOf(parts, organizationId, policies),
    clock,
    log,
  });
  let sweeper: NodeJS.Timeout | null = null;
  let unsubscribe: (() => Promise<void>) | null = null;

  return {
    desk,
    engine,
    startSweeping() {
      sweeper ??= setInterval(() => {
        // Redis being away is said elsewhere; what is not swept now is swept when it is back.
        engine.sweep().catch(() => undefined);
      }, SWEEP_MS);
    },
    async start() {
      cooldowns.start();
      desk.start();
      // When Redis is away, the first calls bring the scripts along.
      const shards = Array.from({ length: SHARDS }, (_, shard) => scripts.load(prefixOfShard(shard)));
      await Promise.allSettled(shards);
      unsubscribe = await redis.subscribe(`relay:wake:${parts.gatewayId}`, (operationId) =>
        desk.woken(operationId),
      );
    },
    async stop(timeoutMs) {
      const left = await desk.stop(timeoutMs);
      if (sweeper !== null) clearInterval(sweeper);
      cooldowns.stop();
      await unsubscribe?.();
      return left;
    },
  };
}

/** What the ledger holds against policies whose windows the engine does not know. */
async function openingsOf(
  { db, snapshots, clock }: AdmissionParts,
  organizationId: string,
  policies: readonly Policy[],
): Promise<Opening[]> {
  const snapshot = snapshots.get(organizationId) ?? (await snapshots.load(organizationId));
  const openings: Opening[] = [];
  for (const policy of policies) {
    const { period } = policy;
    if (period === 'none' || isSliding(period)) continue;
    const startMs = windowStartMs(period, clock.nowMs());
    const configured = snapshot.limitPolicies.find(({ id }) => id === policy.id);
    const amount =
      configured === undefined ? 0 : await sumUsageSince(db, organizationId, configured, startMs);
    openings.push({ policy, startMs, amount });
  }
  return openings;
}
