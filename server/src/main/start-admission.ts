import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import { type AdmissionDesk, createDesk } from '../admission/desk.ts';
import type { AdmissionEngine } from '../admission/engine.ts';
import { createFleetFlows } from '../admission/fleet-flows.ts';
import { createEndpointHealth, type EndpointHealth } from '../admission/health/endpoint-health.ts';
import { createRedisHealthStore } from '../admission/health/redis-health-store.ts';
import type { FlowsAsk, LiveFlow } from '../admission/live-flows.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createRedisEngine } from '../admission/redis/engine.ts';
import { createScripts } from '../admission/redis/scripts.ts';
import { createSharedCooldowns } from '../admission/shared-cooldowns.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { createStreamJournal, type JournalState } from '../metering/journal/index.ts';
import { createSendUsage, createUsageStream } from '../metering/usage-stream.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOfShard, SHARDS } from '../store/redis/shards.ts';
import { knownUsage } from './known-usage.ts';
import { calendarOpenings } from './window-openings.ts';

const SWEEP_MS = 1_000;
const USAGE_RECORDS_MAX = 50_000;

export interface AdmissionParts {
  readonly redis: Redis;
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  readonly log: Log;
  /** Where usage is stored while Redis is unavailable. */
  readonly spool: { readonly directory: string; readonly bytesMax: number };
  /** Unique per process: the channel for wake-ups of its queued requests. */
  readonly gatewayId: string;
  /** Wraps the engine to measure it. */
  readonly timed?: (engine: AdmissionEngine) => AdmissionEngine;
}

export interface RunningAdmission {
  readonly desk: AdmissionDesk;
  readonly engine: AdmissionEngine;
  readonly health: EndpointHealth;
  /** Live counters of limits, for the management API. */
  readonly limitUsage: AdmissionEngine['usage'];
  /** Waiting and in-flight requests of the whole deployment, for the management API. */
  readonly liveFlows: (ask: FlowsAsk) => Promise<LiveFlow[]>;
  /** Requests of this process by state, and records not yet sent to Redis. */
  counts(): ReturnType<AdmissionDesk['counts']> & { readonly unsent: number };
  /** Usage stored on disk, for metrics. */
  spoolState(): JournalState;
  /** Expires leases of gateways that died. */
  startSweeping(): void;
  /** Call before the first request. Throws when the process must not serve. */
  prepare(): Promise<void>;
  start(): Promise<void>;
  /** Gives each part this long to deliver its usage. */
  stop(timeoutMs: number): Promise<StoppedAdmission>;
}

export interface StoppedAdmission {
  /** Entries that stay on disk for the next process. */
  readonly kept: number;
  /** Entries that neither Redis nor the disk took. */
  readonly lost: number;
}

/** The limits engine on Redis, with what delivers its usage reliably: stream, journal, cooldowns, wake-ups. */
export function createAdmission(parts: AdmissionParts): RunningAdmission {
  const { redis, clock, log } = parts;
  const scripts = createScripts(redis);
  const engine = createRedisEngine({ scripts, gatewayId: parts.gatewayId });
  const cooldowns = createSharedCooldowns({ redis, clock, log });
  const send = createSendUsage(redis);
  const journal = createStreamJournal({
    ...parts.spool,
    ownerId: randomUUIDv7(),
    settle: engine.settle,
    send,
    clock,
    log,
  });
  const usage = createUsageStream({ send, keep: journal.record, recordsMax: USAGE_RECORDS_MAX, log });
  const openings = calendarOpenings.bind(null, parts);
  const desk = createDesk({
    engine: parts.timed?.(engine) ?? engine,
    local: createLocalCooldowns({ clock, channel: cooldowns }),
    append: usage.append,
    journal,
    openings,
    clock,
    log,
  });
  const fleet = createFleetFlows({ redis, own: desk.flows, gatewayId: parts.gatewayId, clock, log });
  const health = createEndpointHealth({ store: createRedisHealthStore({ redis, log }), clock, log });
  let sweeper: NodeJS.Timeout | null = null;
  let unsubscribe: (() => Promise<void>) | null = null;

  return {
    desk,
    engine,
    health,
    limitUsage: knownUsage(engine, openings),
    liveFlows: fleet.read,
    counts: () => ({ ...desk.counts(), unsent: usage.pending() }),
    spoolState: journal.state,
    startSweeping() {
      sweeper ??= setInterval(() => {
        // The Redis client logs outages. The next sweep that succeeds expires the same leases.
        engine.sweep().catch(() => undefined);
      }, SWEEP_MS);
    },
    prepare: () => Promise.resolve(),
    async start() {
      cooldowns.start();
      desk.start();
      journal.start();
      // If Redis is unavailable now, the first call loads the script.
      const shards = Array.from({ length: SHARDS }, (_, shard) => scripts.load(prefixOfShard(shard)));
      await Promise.allSettled(shards);
      const wakes = redis.subscribe(`relay:wake:${parts.gatewayId}`, (operationId) =>
        desk.woken(operationId),
      );
      [unsubscribe] = await Promise.all([wakes, fleet.start(), health.start()]);
    },
    async stop(timeoutMs) {
      const unsettled = await desk.stop(timeoutMs);
      await usage.close(timeoutMs);
      const { kept, lost } = await journal.stop(timeoutMs);
      if (sweeper !== null) clearInterval(sweeper);
      cooldowns.stop();
      await health.stop();
      await unsubscribe?.();
      await fleet.stop();
      return { kept, lost: lost + unsettled };
    },
  };
}
