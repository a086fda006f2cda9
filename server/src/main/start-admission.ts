import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import { type AdmissionDesk, createDesk } from '../admission/desk.ts';
import type { AdmissionEngine } from '../admission/engine.ts';
import { createFleetFlows } from '../admission/fleet-flows.ts';
import { createEndpointHealth, type EndpointHealth } from '../admission/health/endpoint-health.ts';
import { createRedisHealthStore } from '../admission/health/redis-health-store.ts';
import { relayTo } from '../admission/line.ts';
import type { FlowsAsk } from '../admission/live-flows.ts';
import type { LiveTraffic } from '../admission/live-lanes.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createRedisEngine } from '../admission/redis/engine.ts';
import { createScripts, type Scripts } from '../admission/redis/scripts.ts';
import { createSharedCooldowns } from '../admission/shared-cooldowns.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { createSetAside, type SetAside } from '../kit/set-aside.ts';
import { createStreamJournal, type JournalState } from '../metering/journal/index.ts';
import { createSendUsage, createUsageStream } from '../metering/usage-stream.ts';
import { readPostedRequests } from '../store/ledger/posted-requests.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOfShard } from '../store/redis/shards.ts';
import { epochParts } from './epoch-parts.ts';
import { knownUsage } from './known-usage.ts';
import { currentOpenings } from './window-openings.ts';

const SWEEP_MS = 1_000;
const USAGE_RECORDS_MAX = 50_000;
/** Enough to meet every node of a usual cluster. */
const SHARDS_WITH_SCRIPTS = Array.from({ length: 16 }, (_, shard) => shard);

/** Wraps parts of admission to measure them. */
export interface MeasuredAdmission {
  readonly timed: (engine: AdmissionEngine) => AdmissionEngine;
  readonly timedScripts: (scripts: Scripts) => Scripts;
}

export interface AdmissionParts extends Partial<MeasuredAdmission> {
  readonly redis: Redis;
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  readonly log: Log;
  /** Where usage is stored while Redis is unavailable. */
  readonly spool: { readonly directory: string; readonly bytesMax: number };
  /** Unique per process: releases of its waiting requests are sent to it. */
  readonly gatewayId: string;
}

export interface RunningAdmission {
  readonly desk: AdmissionDesk;
  readonly engine: AdmissionEngine;
  readonly health: EndpointHealth;
  /** Live counters of limits, for the management API. */
  readonly limitUsage: AdmissionEngine['usage'];
  /** Waiting and in-flight requests of the whole deployment, for the management API. */
  readonly liveTraffic: (ask: FlowsAsk) => Promise<LiveTraffic>;
  /** Requests of this process by state, and records not yet sent to Redis. */
  counts(): ReturnType<AdmissionDesk['counts']> & { readonly unsent: number };
  /** Usage stored on disk, for metrics. */
  spoolState(): JournalState;
  /** What was stored and could not be read, for metrics. */
  setAside: SetAside['counts'];
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

/** Of the time to stop, for what follows the journal. */
const CLOSE_MS = 500;

function createSweeping(engine: Pick<AdmissionEngine, 'sweep'>) {
  let sweeper: NodeJS.Timeout | undefined;
  return {
    start() {
      sweeper ??= setInterval(() => {
        // The Redis client logs outages. The next sweep that succeeds expires the same leases.
        engine.sweep().catch(() => undefined);
      }, SWEEP_MS);
    },
    stop: () => clearInterval(sweeper),
  };
}

/** The limits engine on Redis, with what delivers its usage reliably: stream, journal, cooldowns, the line. */
export function createAdmission(parts: AdmissionParts): RunningAdmission {
  const { redis, clock, log } = parts;
  const { gatewayId, timedScripts = (same) => same } = parts;
  const scripts = timedScripts(createScripts(redis));
  const aside = createSetAside(log);
  const line = relayTo(() => desk);
  const epochs = epochParts(parts, (restarted) => desk.shardRestarted(restarted));
  const engine = createRedisEngine({ scripts, gatewayId, line, aside, epochs });
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
  const openings = currentOpenings.bind(null, parts);
  const desk: AdmissionDesk = createDesk({
    engine: parts.timed?.(engine) ?? engine,
    local: createLocalCooldowns({ clock, channel: cooldowns }),
    append: usage.append,
    journal,
    openings,
    posted: (operationIds) => readPostedRequests(parts.db, operationIds),
    clock,
    log,
  });
  const fleet = createFleetFlows({ redis, own: desk.traffic, gatewayId, clock, log, aside });
  const health = createEndpointHealth({ store: createRedisHealthStore({ redis, log }), clock, log });
  const sweeping = createSweeping(engine);

  return {
    desk,
    engine,
    health,
    limitUsage: knownUsage(engine, openings),
    liveTraffic: fleet.read,
    counts: () => ({ ...desk.counts(), unsent: usage.pending() }),
    spoolState: journal.state,
    setAside: aside.counts,
    startSweeping: sweeping.start,
    prepare: () => Promise.resolve(),
    async start() {
      cooldowns.start();
      desk.start();
      journal.start();
      // If Redis is unavailable now, or a node is missed, the first call loads the script.
      await Promise.allSettled(SHARDS_WITH_SCRIPTS.map((shard) => scripts.load(prefixOfShard(shard))));
      await Promise.all([fleet.start(), health.start()]);
    },
    async stop(timeoutMs) {
      const endMs = clock.monotonicMs() + timeoutMs;
      const leftMs = () => Math.max(0, endMs - clock.monotonicMs());
      // What Redis does not take goes to the journal, which therefore stops last. It is on the disk before that.
      const unsettled = await desk.stop(leftMs() / 2);
      await usage.close(leftMs() / 2);
      const { kept, lost } = await journal.stop(Math.max(0, leftMs() - CLOSE_MS));
      sweeping.stop();
      cooldowns.stop();
      await health.stop();
      await fleet.stop();
      return { kept, lost: lost + unsettled };
    },
  };
}
